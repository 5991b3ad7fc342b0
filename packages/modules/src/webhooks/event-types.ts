import { z } from 'zod';

/**
 * Every type of event that the specification names, in the order of the interface specification
 * ("Events"). This is the only place where the list stands.
 */
export const eventTypes = [
  'subscription.created',
  'subscription.draft.created',
  'subscription.activated',
  'subscription.updated',
  'subscription.paused',
  'subscription.cancelled',
  'subscription.resumed',
  'subscription.phase.created',
  'subscription.phase.updated',
  'subscription.phase.deleted',
  'subscription.renewal.due',
  'feature.created',
  'feature.updated',
  'feature.deleted',
  'feature.wallet_balance.alert',
  'entitlement.created',
  'entitlement.updated',
  'entitlement.deleted',
  'wallet.created',
  'wallet.updated',
  'wallet.terminated',
  'wallet.transaction.created',
  'wallet.credit_balance.dropped',
  'wallet.credit_balance.recovered',
  'wallet.ongoing_balance.dropped',
  'wallet.ongoing_balance.recovered',
  'payment.created',
  'payment.updated',
  'payment.failed',
  'payment.success',
  'payment.pending',
  'customer.created',
  'customer.updated',
  'customer.deleted',
  'invoice.update.finalized',
  'invoice.update.payment',
  'invoice.update.voided',
  'invoice.update',
  'invoice.payment.overdue',
  'invoice.communication.triggered',
  'credit_note.created',
  'credit_note.updated',
] as const;

export type EventType = (typeof eventTypes)[number];

/** Types beyond the interface specification, which an endpoint without a filter gets as well. */
const furtherTypes = ['ledger.checkpoint.created'] as const;

/**
 * Events about webhooks themselves. Only an endpoint whose filter names them gets them: a
 * receiver of the business's events need not know what they are.
 */
export const operationalTypes = ['endpoint.disabled', 'message.exhausted'] as const;

/**
 * Types beyond the specification: changes of the catalogue that no client expects. An endpoint gets
 * them only when its filter names them.
 */
export const catalogueEventTypes = [
  'meter.created',
  'meter.updated',
  'meter.disabled',
  'meter.deleted',
  'group.created',
  'group.deleted',
  'price_unit.created',
  'price_unit.updated',
  'price_unit.deleted',
  'coupon.created',
  'coupon.updated',
  'coupon.deleted',
  'tax_rate.created',
  'tax_rate.updated',
  'tax_rate.deleted',
  'tax_association.created',
  'tax_association.updated',
  'tax_association.deleted',
  'plan.created',
  'plan.updated',
  'plan.deleted',
  'addon.created',
  'addon.updated',
  'addon.deleted',
  'costsheet.created',
  'costsheet.updated',
  'costsheet.deleted',
  'price.created',
  'price.updated',
  'price.ended',
  'credit_grant.created',
  'credit_grant.updated',
  'credit_grant.ended',
] as const;

/** What a test sends when it is not told a type. It never is published. */
export const testType = 'webhook.test';

/** Whether it is an event about webhooks themselves. */
export const isOperational = (type: string): boolean =>
  operationalTypes.some((operational) => operational === type);

const onRequestOnly: ReadonlySet<string> = new Set([...catalogueEventTypes, ...operationalTypes]);

const knownTypes: readonly string[] = [...eventTypes, ...furtherTypes, ...onRequestOnly];

/** Whether a type can be asked for by its name. */
export const isKnownType = (type: string): boolean => knownTypes.includes(type);

const prefixMark = '.*';

/** Whether one entry of a filter (`invoice.update` or `invoice.*`) covers an event type. */
export const coversType = (entry: string, type: string): boolean =>
  entry.endsWith(prefixMark) ? type.startsWith(entry.slice(0, -1)) : entry === type;

/** Whether an endpoint with this filter wants a type; null wants all but those on request. */
export const wantsType = (filter: readonly string[] | null, type: string): boolean =>
  filter === null ? !onRequestOnly.has(type) : filter.some((entry) => coversType(entry, type));

/**
 * One entry of a filter: a type of the list, or a prefix of one or more of them. An entry that
 * could never match is refused, because it would be a typing error that nobody notices.
 */
const filterEntrySchema = z
  .string()
  .max(64)
  .refine(
    (entry) => knownTypes.some((type) => coversType(entry, type)),
    'must be an event type such as "customer.updated" or a prefix such as "invoice.*"',
  )
  .meta({ example: 'customer.updated' });

/** The event types that an endpoint receives: null for all, else 1 to 64 entries. */
export const eventFilterSchema = z
  .array(filterEntrySchema)
  .min(1)
  .max(64)
  .transform((entries) => [...new Set(entries)])
  .nullable()
  .meta({
    description:
      'Event types to receive, exact or as a prefix such as "invoice.*"; null: all of the ' +
      'interface specification',
    example: ['customer.updated', 'invoice.*'],
  });
