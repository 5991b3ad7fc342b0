import { publicEvents } from '@counterfoil/engine/define';
import { z } from 'zod';
import { meter, meterView } from './meter.ts';
import { meterSchema } from './schema.ts';

const messageTypes = {
  MeterCreated: 'meter.created',
  MeterFiltersReplaced: 'meter.updated',
  MeterDisabled: 'meter.disabled',
  MeterDeleted: 'meter.deleted',
} as const;

const body = z.object({ meter: meterSchema });

/** Every change of a meter is published, with the whole meter as it is after the change. */
export const meterPublicEvents = publicEvents(
  meter,
  ({ event, after }) => {
    const resource = meterView(after);
    return [{ type: messageTypes[event.type], resourceId: resource.id, body: { meter: resource } }];
  },
  {
    'meter.created': { summary: 'A meter is created', body },
    'meter.updated': { summary: 'The filters of a meter change', body },
    'meter.disabled': { summary: 'A meter counts no more', body },
    'meter.deleted': { summary: 'A meter is deleted', body },
  },
);
