import { suite } from 'uvu';
import { recordUnderKills } from './usage-kills.ts';

const test = suite('usage while processes are killed');

test('what was acknowledged is counted once after a kill of each process that it passes', () =>
  recordUnderKills(['api', 'projector', 'postgres', 'event store', 'nats', 'event gateway']));

test.run();
