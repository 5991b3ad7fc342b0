import {
  type CustomerId,
  changedFields,
  createdStamps,
  derivedId,
  isEmpty,
  type Metadata,
  type RecordStamps,
  type RecordStatus,
  type Stamp,
  updatedStamps,
} from '@counterfoil/kernel';
import { z } from 'zod';
import type { IntegrationMapping } from './schema.ts';

/** A mapping as an event carries it: complete, with the id that was decided. */
export const integrationData = z.object({
  id: z.string(),
  provider_type: z.string(),
  provider_entity_id: z.string(),
  entity_id: z.string(),
  metadata: z.record(z.string(), z.string()),
});
export type IntegrationData = z.output<typeof integrationData>;

/** The id of a customer at one provider. There is at most one per provider. */
export interface Integration extends RecordStamps {
  readonly id: string;
  readonly status: RecordStatus;
  readonly entity_type: 'customer';
  readonly entity_id: string;
  readonly provider_type: string;
  readonly provider_entity_id: string;
  readonly metadata: Metadata;
}

/**
 * The mappings of a request that say something new about a customer. The id of a mapping follows
 * from customer and provider, so that it stays the same however often the mapping is replaced.
 */
export const newIntegrations = (
  customerId: CustomerId,
  known: readonly Integration[],
  mappings: readonly IntegrationMapping[] = [],
): IntegrationData[] =>
  mappings
    .map((mapping) => ({
      id: derivedId('eim', `${customerId}\n${mapping.provider_type}`),
      provider_type: mapping.provider_type,
      provider_entity_id: mapping.provider_entity_id,
      entity_id: mapping.entity_id || customerId,
      metadata: mapping.metadata ?? {},
    }))
    .filter((data) => {
      const current = known.find(({ provider_type }) => provider_type === data.provider_type);
      return !current || !isEmpty(changedFields<IntegrationData>(current, data));
    });

/** The mappings after an event: one per provider, in the order in which providers first appeared. */
export function withIntegrations(
  known: readonly Integration[],
  data: readonly IntegrationData[],
  stamp: Stamp,
): readonly Integration[] {
  const byProvider = new Map(known.map((integration) => [integration.provider_type, integration]));
  for (const mapping of data) {
    byProvider.set(mapping.provider_type, {
      ...createdStamps(stamp),
      ...byProvider.get(mapping.provider_type),
      ...mapping,
      ...updatedStamps(stamp),
      entity_type: 'customer',
      status: 'published',
    });
  }
  return [...byProvider.values()];
}
