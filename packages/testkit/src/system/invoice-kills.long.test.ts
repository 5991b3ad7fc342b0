import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { finalizingSteps, metAfter } from './finalizing-steps.ts';
import { processNames } from './installation.ts';
import { finalizeUnderKills, type Kill } from './invoice-kills.ts';

const test = suite('invoices that are made final while processes are killed');

const kills = Number(process.env.COUNTERFOIL_TEST_KILLS ?? 200);
/** Kills in the long run that meet an invoice right after each of the steps, at least. */
const killsOfStep = kills >= 200 ? 5 : 0;

test(`one number, one debit and one invoice each, without gaps, after ${kills} kills at every step`, async () => {
  // The projector makes them final: it is killed every other time, all others in turn, and each at every step.
  const chosen = Array.from({ length: kills }, (_, place): Kill => {
    const round = Math.floor(place / finalizingSteps.length);
    const isOfProjector = (place + round) % 2 === 0;
    const other = processNames[Math.floor(place / 2) % processNames.length] ?? 'projector';
    return {
      victim: isOfProjector ? 'projector' : other,
      at: finalizingSteps[place % finalizingSteps.length] ?? 'InvoiceFinalized',
    };
  });
  const standings = await finalizeUnderKills(chosen);
  const ofProjector = standings.filter((_, place) => chosen[place]?.victim === 'projector');
  for (const step of finalizingSteps) {
    const [all, own] = [metAfter(standings, step), metAfter(ofProjector, step)];
    console.log(
      `after ${step}: ${all.kills} kills, ${own.kills} of the projector, with ${all.invoices} invoices there`,
    );
    // With the last of its steps an invoice is done, as a rule: a kill right after it meets those behind it.
    if (step !== finalizingSteps.at(-1)) {
      assert.ok(own.kills >= killsOfStep, `${step}: too few kills`);
    }
  }
});

test.run();
