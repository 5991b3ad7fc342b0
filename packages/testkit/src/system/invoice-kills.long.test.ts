import { suite } from 'uvu';
import { processNames } from './installation.ts';
import { finalizeUnderKills } from './invoice-kills.ts';

const test = suite('invoices that are made final while processes are killed');

const kills = 200;

test('one number, one debit and one invoice each, without gaps, after 200 kills', () =>
  // The projector makes them final: it is killed every other time, all others in turn.
  finalizeUnderKills(
    Array.from({ length: kills }, (_, place) =>
      place % 2 === 0
        ? 'projector'
        : (processNames[((place - 1) / 2) % processNames.length] ?? 'projector'),
    ),
  ));

test.run();
