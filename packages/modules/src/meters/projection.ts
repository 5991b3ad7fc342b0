import { recordProjection } from '@counterfoil/engine/define';
import { meter, meterView } from './meter.ts';

/** One row per meter: what `GET /meters/{id}` answers. */
export const meterTable = recordProjection(meter, {
  name: 'meters',
  version: 1,
  view: meterView,
  columns: {
    name: { type: 'text', of: ({ name }) => name },
    event_name: { type: 'text', of: ({ event_name }) => event_name, index: true },
  },
});
