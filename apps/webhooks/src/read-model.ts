import type { Connection } from '@counterfoil/engine';
import { sleep } from './wake.ts';

const pollMs = 200;

/**
 * Waits until the projector has made the read tables of endpoints and tasks; in a new installation it may
 * start after the worker. Returns early when the signal aborts.
 */
export async function waitForReadModel(connection: Connection, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { rows } = await connection.query<{ exists: boolean }>(
      `select to_regclass('counterfoil.webhook_endpoints') is not null
              and to_regclass('counterfoil.webhook_tasks') is not null as exists`,
    );
    if (rows[0]?.exists) return;
    await sleep(pollMs, signal);
  }
}
