import type { UsageEventTrace } from '@counterfoil/modules';

/** A usage event and its explanation, as lines for people. */
export function explainedEvent({
  event,
  position,
  status,
  reasons,
  meters,
}: UsageEventTrace): readonly string[] {
  const { id, event_name, external_customer_id, customer_id, timestamp, source } = event;
  const whose = customer_id === null ? 'nobody yet' : customer_id;
  return [
    `${id}: ${status}`,
    `  ${event_name} of ${external_customer_id} (${whose}) at ${timestamp}, position ${position} of the log`,
    ...(source === '' ? [] : [`  source: ${source}`]),
    `  properties: ${JSON.stringify(event.properties)}`,
    ...reasons.map((reason) => `  ! ${reason}`),
    ...meters.map(meterLine),
  ];
}

function meterLine({
  meter_id,
  meter_name,
  counted,
  value,
  reason,
  feature_ids,
}: UsageEventTrace['meters'][number]): string {
  if (!counted) return `  - ${meter_name} (${meter_id}): not counted, ${reason ?? 'for no reason'}`;
  const features = feature_ids.length === 0 ? '' : `, for ${feature_ids.join(', ')}`;
  return `  + ${meter_name} (${meter_id}): ${value ?? 'the event'}${features}`;
}
