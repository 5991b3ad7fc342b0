import fc from 'fast-check';
import { assertProven, readAll } from './audit.ts';
import { memoryClient, memoryPrincipal } from './memory-client.ts';
import { runScenario } from './scenario-runner.ts';
import { type Scenario, scenarios } from './scenarios.ts';

/** Another seed every time, unless COUNTERFOIL_TEST_SEED asks for an old one again. */
export function seedOfRun(): number {
  const given = process.env.COUNTERFOIL_TEST_SEED;
  return given === undefined ? Date.now() % 2 ** 31 : Number(given);
}

export interface MemoryRuns {
  readonly seed: number;
  readonly scenarios: number;
  /** Clients that work at the same time on each wallet. */
  readonly clients: number;
}

/**
 * Plays random scenarios in memory, each on a wallet of its own, and proves every ledger: the oracle
 * explains it, and I1 to I11 hold.
 *
 * @returns how many requests were sent
 */
export async function proveInMemory({ seed, scenarios: numRuns, clients }: MemoryRuns) {
  let requests = 0;
  await fc.assert(
    fc.asyncProperty(scenarios(4, 40), async (scenario) => {
      requests += await proveScript(scenario, clients);
    }),
    { seed, numRuns, includeErrorInReport: true },
  );
  return requests;
}

/** Plays one scenario in memory and proves its ledger. Returns the number of its requests. */
export async function proveScript(scenario: Scenario, clients: number): Promise<number> {
  const client = memoryClient();
  const options = { name: 'run', clients, unit: 1_000, lead: 0 };
  const { walletId, exchanges } = await runScenario(client, scenario, options);
  const { tenantId, environmentId } = memoryPrincipal;
  const all = await readAll(client, walletId);
  await assertProven({ ...all, exchanges, tenantId, environmentId, strangers: [] });
  return exchanges.length;
}
