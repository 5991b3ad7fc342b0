import { setTimeout as pause } from 'node:timers/promises';
import { type Demo, OperatorError } from '@counterfoil/cli/settings';
import { api } from './api.ts';

const pollMilliseconds = 5;
const pollMaximum = 250;
/** The part of the time so far that may pass before the clock is looked at again. */
const pollShare = 0.02;

/** An environment with a test clock that stands at an instant, and a key of it. */
export async function makeSandbox(demo: Demo, name: string, now: string): Promise<Demo> {
  const { id } = await api<{ id: string }>(demo, 'POST', '/environments', {
    name,
    type: 'development',
  });
  const { api_key } = await api<{ api_key: string }>(demo, 'POST', '/secrets/api/keys', {
    name,
    type: 'private_key',
    environment_id: id,
  });
  const sandbox = { ...demo, environment_id: id, api_key };
  await untilKnown(sandbox);
  await api(sandbox, 'PUT', `/environments/${id}/clock`, { now });
  return sandbox;
}

async function untilKnown(demo: Demo): Promise<void> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const seen = await api(demo, 'GET', '/customers?limit=1').catch(() => null);
    if (seen !== null) return;
    await pause(pollMilliseconds);
  }
  throw new OperatorError('The key of the new environment never worked.');
}

interface ShownClock {
  readonly state: string;
  readonly now: string;
  readonly progress: {
    readonly effects: number;
    readonly ended?: string;
    readonly failure?: string;
  };
}

/** The outcome of an advance of a clock. */
export interface Advanced {
  /** Pieces of due work that changed something. */
  readonly effects: number;
  readonly milliseconds: number;
}

/** Moves the clock of a sandbox, and waits until everything on the way has been done. */
export async function advance(sandbox: Demo, to: string): Promise<Advanced> {
  const path = `/environments/${sandbox.environment_id}/clock`;
  const startedAt = performance.now();
  let clock = await api<ShownClock>(sandbox, 'POST', `${path}/advance`, { to });
  while (clock.state === 'advancing') {
    // Long ones are looked at more seldom: the questions would take time from what is measured.
    const elapsed = performance.now() - startedAt;
    await pause(Math.min(pollMaximum, pollMilliseconds + elapsed * pollShare));
    clock = await api<ShownClock>(sandbox, 'GET', path);
  }
  const { now, progress } = clock;
  if (now !== to) throw new OperatorError(`The clock stands at ${now}: ${progress.failure}`);
  return { effects: progress.effects, milliseconds: performance.now() - startedAt };
}
