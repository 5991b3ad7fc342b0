import { publisher } from '@counterfoil/engine/define';
import { meter, meterView } from './meter.ts';

const messageTypes = {
  MeterCreated: 'meter.created',
  MeterFiltersReplaced: 'meter.updated',
  MeterDisabled: 'meter.disabled',
  MeterDeleted: 'meter.deleted',
} as const;

/** Every change of a meter is published, with the whole meter as it is after the change. */
export const meterPublisher = publisher(meter, ({ event, after }) => {
  const resource = meterView(after);
  return [{ type: messageTypes[event.type], resourceId: resource.id, body: { meter: resource } }];
});
