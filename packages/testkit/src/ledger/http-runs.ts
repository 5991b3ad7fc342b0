import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import type { SharedStack, TestTenant } from '../stack.ts';
import { readPublicStream } from '../system/public-stream.ts';
import { assertCustomerProven, type CustomerEvidence, readTogether } from './audit.ts';
import { checkDurability } from './checks/request-checks.ts';
import type { LedgerAnswer } from './exchange.ts';
import { httpClient } from './http-client.ts';
import { runScenario } from './scenario-runner.ts';
import { type Scenario, scenarios } from './scenarios.ts';

/** Wallets that are played on at the same time. */
const atOnce = 4;
/** Milliseconds of a unit of time in scenarios, and by how much an expiry is ahead at least. */
const times = { unit: 4, lead: 400 } as const;

/** Proofs of random ledgers on the real service. */
export interface HttpRuns {
  /** Everything that has been played so far. */
  readonly played: readonly CustomerEvidence[];
  /** Plays random scenarios, so many clients at once on each wallet, until the time is used up. */
  prove(options: {
    readonly seed: number;
    readonly clients: number;
    readonly milliseconds: number;
  }): Promise<void>;
  /** Waits until the public stream tells every entry of every ledger once and in order. */
  provePublished(): Promise<void>;
}

/** Prepares proofs with a tenant, and a stranger who is to see nothing of it. */
export async function httpRuns(stack: SharedStack): Promise<HttpRuns> {
  const own = await stack.tenant('ledger');
  const stranger = await stack.tenant('ledger of another');
  const client = httpClient(own, stack.store);
  const played: CustomerEvidence[] = [];
  let begun = 0;

  const proveOne = async (scenario: Scenario, clients: number): Promise<void> => {
    begun += 1;
    const result = await runScenario(client, scenario, {
      ...times,
      name: `ledger-${begun}`,
      clients,
    });
    const asked = result.wallets.map(({ walletId }) => askedBy(stranger, walletId));
    const strangers = (await Promise.all(asked)).flat();
    const { tenantId, environmentId } = own;
    const evidence = await readTogether(client, result, { tenantId, environmentId, strangers });
    played.push(evidence);
    await assertCustomerProven(evidence);
  };

  const proveNumbered = async (seed: number, clients: number): Promise<void> => {
    const [scenario] = fc.sample(scenarios(20, 60), { seed, numRuns: 1 });
    if (!scenario) throw new Error('no scenario');
    try {
      await proveOne(scenario, clients);
    } catch (error) {
      // The runner shows the message only, so the fault and its two sides have to stand in it.
      const message = error instanceof Error ? error.message : `${error}`;
      const sides = error instanceof assert.Assertion ? error.details : '';
      throw new Error(`scenario ${seed}: ${message}${sides || ''}`, { cause: error });
    }
  };

  return {
    played,
    async prove({ seed, clients, milliseconds }) {
      const deadline = performance.now() + milliseconds;
      let next = seed;
      const lane = async () => {
        // A failure on a real clock is looked into by its ledger: it cannot be made smaller.
        do {
          next += 1;
          await proveNumbered(next, clients);
        } while (performance.now() < deadline);
      };
      await Promise.all(Array.from({ length: atOnce }, lane));
    },
    async provePublished() {
      let faults: readonly string[] = [];
      await eventually(
        async () => {
          const messages = await readPublicStream(stack.natsUrl);
          const found: string[] = [];
          // One after the other: there may be thousands of wallets.
          for (const { walletId, exchanges } of played.flatMap(({ wallets }) => wallets)) {
            const published = messages.filter(({ stream }) => stream.endsWith(`.${walletId}`));
            // Since the end of its scenario more may have fallen due.
            const history = await client.history(walletId);
            const fault = checkDurability({ exchanges, history, published });
            if (fault) found.push(fault.message);
          }
          faults = found;
          return faults.length === 0;
        },
        () => faults.join('\n'),
      );
    },
  };
}

/**
 * Asks for a wallet with the key of another tenant, in every way there is, and returns the answers.
 */
async function askedBy(stranger: TestTenant, walletId: string): Promise<readonly LedgerAnswer[]> {
  const paths = ['', '/transactions', '/holds', '/balance', '/ledger'];
  const reads = paths.map((path) => stranger.call('GET', `/wallets/${walletId}${path}`));
  const debit = stranger.call('POST', `/wallets/${walletId}/debit`, { credits: '1' });
  const answers = await Promise.all([...reads, debit]);
  return answers.map(({ status, body }) => ({ status, body, isReplay: false }));
}

/** Tells how many requests were sent and how they ended, in words. */
export function summaryOf({ played }: Pick<HttpRuns, 'played'>): {
  readonly requests: number;
  readonly text: string;
} {
  const wallets = played.flatMap((each) => each.wallets);
  const all = [...wallets, ...played.map(({ debits }) => debits)];
  const requests = all.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
  const events = all.reduce((sum, { history }) => sum + history.length, 0);
  return { requests, text: `${requests} requests, ${wallets.length} wallets, ${events} events` };
}
