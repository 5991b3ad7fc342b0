import fc from 'fast-check';
import { assertCustomerProven, readTogether } from './audit.ts';
import { hardStatements } from './checks/past-checks.ts';
import type { Fact } from './history.ts';
import { type MemoryOptions, memoryClient, memoryPrincipal } from './memory-client.ts';
import { runScenario } from './scenario-runner.ts';
import { type Scenario, scenarios } from './scenarios.ts';

/** Another seed every time, unless COUNTERFOIL_TEST_SEED asks for an old one again. */
export function seedOfRun(): number {
  const given = process.env.COUNTERFOIL_TEST_SEED;
  return given === undefined ? Date.now() % 2 ** 31 : Number(given);
}

/** A failure that has been made smaller for so many milliseconds is small enough. */
const timeMaximum = 600_000;

export interface MemoryRuns {
  readonly seed: number;
  readonly scenarios: number;
  /** Clients that work at the same time on each wallet. */
  readonly clients: number;
  readonly clock: MemoryOptions['clock'];
}

/** The size of a proof. */
export interface Proof {
  readonly requests: number;
  /** The kinds of entries in each statement that has any whose place is hard to find. */
  readonly hardStatements: readonly (readonly string[])[];
  /** The types of events that came to pass, and the occasions of automatic top-ups. */
  readonly reached: ReadonlySet<string>;
}

/**
 * Plays random scenarios in memory, each on a wallet of its own, and proves every ledger: the oracle
 * explains it, and I1 to I11 hold.
 */
export async function proveInMemory(runs: MemoryRuns): Promise<Proof> {
  const { seed, scenarios: numRuns, clients, clock } = runs;
  const proofs: Proof[] = [];
  await fc.assert(
    fc.asyncProperty(scenarios(10, 60), async (scenario) => {
      proofs.push(await proveScript(scenario, clients, clock));
    }),
    { seed, numRuns, includeErrorInReport: true, interruptAfterTimeLimit: timeMaximum },
  );
  return {
    requests: proofs.reduce((sum, { requests }) => sum + requests, 0),
    hardStatements: proofs.flatMap(({ hardStatements }) => hardStatements),
    reached: new Set(proofs.flatMap(({ reached }) => [...reached])),
  };
}

/** The type of an event, the occasion of the automatic top-up that it is, and over how many wallets a debit went. */
function reachedBy({ type, data }: Fact): readonly string[] {
  if (data.automatic) return [type, `top-up: ${data.automatic.cause}`];
  if (type === 'DebitCompleted') return [type, `debit over ${data.entries.length}`];
  if (data.debit_effective_at) return [type, 'share dated back'];
  return data.allow_partial ? [type, 'debit in part'] : [type];
}

/** Plays one scenario in memory and proves its ledger. */
export async function proveScript(
  scenario: Scenario,
  clients: number,
  clock: MemoryOptions['clock'] = 'system',
): Promise<Proof> {
  const client = memoryClient({ clock });
  const options = { name: 'run', clients, lead: 0 };
  const result = await runScenario(client, scenario, options);
  const { tenantId, environmentId } = memoryPrincipal;
  // What a request makes due while a clock advances may be run once it stands.
  const isPunctual = clock === 'test' && clients === 1;
  const owner = { tenantId, environmentId, strangers: [], isPunctual };
  const evidence = await readTogether(client, result, owner);
  await assertCustomerProven(evidence);
  const { wallets, debits } = evidence;
  const histories = [...wallets, debits].map(({ history }) => history);
  return {
    requests: [...wallets, debits].reduce((sum, { exchanges }) => sum + exchanges.length, 0),
    hardStatements: wallets.flatMap(({ reads }) => hardStatements(reads.entries, reads.past)),
    reached: new Set(histories.flat().flatMap(reachedBy)),
  };
}
