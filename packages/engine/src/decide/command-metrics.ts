import type { Metrics } from '../operations/metrics.ts';
import type { StreamsOptions } from './streams.ts';

/** The observers of stream writers that count what they do. */
export function commandMetrics(
  metrics: Metrics,
): Required<Pick<StreamsOptions, 'onBatch' | 'onConflict'>> {
  const conflicts = metrics.counter({
    name: 'counterfoil_append_conflicts_total',
    help: 'Appends that another writer was faster than',
  });
  const commands = metrics.counter({
    name: 'counterfoil_commands_total',
    help: 'Commands that were decided',
  });
  const appends = metrics.counter({
    name: 'counterfoil_appends_total',
    help: 'Appends that succeeded; fewer than commands, because those that wait go together',
  });
  return {
    onBatch: (count) => {
      commands.inc(count);
      appends.inc();
    },
    onConflict: () => conflicts.inc(),
  };
}
