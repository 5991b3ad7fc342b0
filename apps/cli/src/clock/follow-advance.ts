import { OperatorError } from '../settings.ts';

/** The clock of an environment as the API shows it. */
export interface ShownClock {
  readonly state: 'system' | 'standing' | 'advancing';
  readonly now: string;
  readonly progress?: {
    readonly to: string;
    readonly effects: number;
    readonly ended?: 'reached' | 'effect' | 'failed';
    readonly failure?: string;
  };
}

/** The line that tells how a clock stands. */
export function clockLine({ state, now, progress }: ShownClock): string {
  if (!progress) return `${now} (${state})`;
  const { to, effects } = progress;
  const way = state === 'advancing' ? `advancing to ${to}` : `${state}, ${progress.ended}`;
  return `${now} (${way}, ${effects} effects)`;
}

/**
 * Prints how a clock stands whenever that has changed, until its advance is over. Throws `OperatorError` when
 * it has failed.
 */
export async function followAdvance(
  look: () => Promise<ShownClock>,
  print: (line: string) => void,
  pause: () => Promise<void>,
): Promise<void> {
  for (let last = ''; ; await pause()) {
    const clock = await look();
    const line = clockLine(clock);
    if (line !== last) print(line);
    last = line;
    if (clock.state === 'advancing') continue;
    if (clock.progress?.ended === 'failed') {
      throw new OperatorError(clock.progress.failure ?? 'The advance has failed.');
    }
    return;
  }
}
