import { suite } from 'uvu';
import { processNames } from './installation.ts';
import { recordUnderKills } from './usage-kills.ts';

const test = suite('usage while processes are killed often');

const killsOfEach = 20;

test('what was acknowledged is counted once after 20 kills of every process', () =>
  recordUnderKills(Array.from({ length: killsOfEach }, () => processNames).flat()));

test.run();
