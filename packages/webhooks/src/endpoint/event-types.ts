import type { PublicEvents } from '@counterfoil/engine/define';
import { z } from 'zod';

/**
 * Every type of event that the specification lists (docs/specification/interface.md, "Events"), in
 * its order. Some of them are not published yet; an endpoint may ask for them all the same.
 */
export const specifiedTypes = [
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

/** A type beyond the specification that endpoints without a filter receive as well. */
const checkpointType = 'ledger.checkpoint.created';

/** The types that an endpoint without a filter receives. Every other type has to be named. */
const standardTypes: ReadonlySet<string> = new Set([...specifiedTypes, checkpointType]);

/** The type of a test message that asks for no other. It is never published. */
export const testType = 'webhook.test';

/** The types that a filter may name: those of the specification, and every one that is published. */
export const typesOffered = (
  publicEvents: readonly Pick<PublicEvents, 'types'>[],
): ReadonlySet<string> =>
  new Set([...specifiedTypes, ...publicEvents.flatMap(({ types }) => Object.keys(types))]);

const prefixMark = '.*';

/** Tells whether one entry of a filter (`invoice.update` or `invoice.*`) covers an event type. */
const coversType = (entry: string, type: string): boolean =>
  entry.endsWith(prefixMark) ? type.startsWith(entry.slice(0, -1)) : entry === type;

/** Tells whether an endpoint with this filter receives a type; null receives the standard ones. */
export const wantsType = (filter: readonly string[] | null, type: string): boolean =>
  filter === null ? standardTypes.has(type) : filter.some((entry) => coversType(entry, type));

/** The prefixes of the types that are offered, such as `invoice.*`. */
const prefixesOf = (offered: ReadonlySet<string>): readonly string[] => {
  const words = [...offered].map((type) => type.split('.'));
  const prefixes = words.flatMap((parts) =>
    parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join('.')}${prefixMark}`),
  );
  return [...new Set(prefixes)].sort();
};

const refusal =
  'must be an event type such as "customer.updated" or, in a filter, a prefix such as "invoice.*"';

const typeSchemas = new WeakMap<ReadonlySet<string>, z.ZodType<string>>();

/** The schema of one of the types that are offered: one for each set of them, which documents name. */
export function offeredTypeSchema(offered: ReadonlySet<string>): z.ZodType<string> {
  const known = typeSchemas.get(offered);
  if (known) return known;
  const schema = z
    .enum([...offered].sort(), refusal)
    .meta({ id: 'OfferedEventType', description: 'Type of event that endpoints may ask for' });
  typeSchemas.set(offered, schema);
  return schema;
}

/**
 * The event types that an endpoint receives: null, or 1 to 64 entries, each a type that is offered
 * or a prefix of one. An entry that could never match is refused, because it would be a typing
 * error that nobody notices.
 */
export const eventFilterSchema = (offered: ReadonlySet<string>) =>
  z
    .array(
      z
        .union([offeredTypeSchema(offered), z.enum(prefixesOf(offered), refusal)])
        .meta({ id: 'EventTypeFilter', example: 'customer.updated' }),
    )
    .min(1)
    .max(64)
    .transform((entries): string[] => [...new Set(entries)])
    .nullable()
    .meta({
      description:
        'Types or prefixes such as "invoice.*"; null: all of the interface specification',
      example: ['customer.updated', 'invoice.*'],
    });
