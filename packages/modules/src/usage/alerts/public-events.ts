import {
  type Change,
  type Embedded,
  type PublicEvent,
  type PublicEventTypes,
  publicEvents,
} from '@counterfoil/engine/define';
import { z } from 'zod';
import { customerRecords } from '../../customers/index.ts';
import { featureRecords } from '../../features/index.ts';
import { placedThresholdSchema, usageAlertSchema } from './schema.ts';
import { type UsageAlertEvent, type UsageAlertState, usageAlert } from './usage-alert.ts';
import { crossedView, usageAlertView } from './view.ts';

type Member = 'customer' | 'feature';

/** One message for each step in the life of an alert, and one for each threshold that is crossed in a period. */
function messages(
  { event, after }: Change<UsageAlertState, UsageAlertEvent>,
  embedded: Embedded<Member>,
): readonly PublicEvent[] {
  const shown = usageAlertView(after);
  const told = (tail: string, body: object = {}): readonly PublicEvent[] => [
    {
      type: `usage_alert.${tail}`,
      resourceId: shown.id,
      body: { usage_alert: shown, ...embedded, ...body },
    },
  ];
  switch (event.type) {
    case 'UsageAlertCreated':
      return told('created');
    case 'UsageAlertUpdated':
      return told('updated');
    case 'UsageAlertDeleted':
      return told('deleted');
    case 'UsageThresholdCrossed': {
      const { threshold, level, usage, position } = event.data;
      const crossed_at = event.stamp.occurred_at;
      const crossing = crossedView({ threshold, level, usage, position, crossed_at });
      return told('threshold_crossed', { threshold: crossing });
    }
    case 'UsageAlertPeriodEnded':
      return [];
    default:
      return event satisfies never;
  }
}

const body = z.object({
  usage_alert: usageAlertSchema,
  customer: customerRecords.schema,
  feature: featureRecords.schema.optional(),
});

const types: PublicEventTypes = {
  'usage_alert.created': { summary: 'A usage alert is created', body },
  'usage_alert.updated': { summary: 'Thresholds or limit of a usage alert change', body },
  'usage_alert.deleted': { summary: 'A usage alert is deleted', body },
  'usage_alert.threshold_crossed': {
    summary: 'Usage of a customer crosses a threshold, for the first time in a period',
    kind: 'entry',
    body: body.extend({ threshold: placedThresholdSchema }),
  },
};

/** The public events of usage alerts, each with the customer, and the feature where the alert names one. */
export const usageAlertPublicEvents = publicEvents(usageAlert, messages, types, {
  customer: { record: customerRecords, id: ({ after }) => after?.customer_id },
  feature: { record: featureRecords, id: ({ after }) => after?.feature_id },
});
