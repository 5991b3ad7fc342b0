import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Demo, Settings } from '@counterfoil/cli/settings';
import { startInstallation } from '@counterfoil/cli/up';
import { freePort } from '@counterfoil/local';

/**
 * Runs work against an installation of its own in a temporary folder, and removes both afterwards,
 * also when somebody interrupts it. Throws what the work throws.
 */
export async function withFreshInstallation<Result>(
  settings: Settings,
  work: (demo: Demo, folder: string, apiUrls: readonly string[]) => Promise<Result>,
  { apiProcesses = 1 }: { readonly apiProcesses?: number } = {},
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-bench-'));
  // A benchmark would otherwise measure the rate limit, and the writing of log lines that nobody reads.
  process.env.RATE_LIMIT_PER_SECOND ??= '1000000';
  process.env.LOG_LEVEL ??= 'warn';
  const { HOST, CLOCK_SKEW_SECONDS } = settings;
  const fresh = { COUNTERFOIL_DATA: folder, PORT: await freePort(), HOST, CLOCK_SKEW_SECONDS };
  const installation = await startInstallation(fresh, { apiProcesses });
  const end = async (): Promise<void> => {
    await installation.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  // An interrupted run must leave nothing behind.
  const interrupt = (): void => void end().finally(() => process.exit(1));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    // A process that is still starting would be measured with the others.
    await installation.whole;
    return await work(installation.demo, folder, installation.apiUrls);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    await end();
  }
}
