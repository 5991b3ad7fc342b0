import type { RequestContext } from '@counterfoil/engine/define';
import { z } from 'zod';
import type { SubscriptionEvent } from './events.ts';

/** An invoice as a subscription shows it: the schema of an `Invoicing` names the rest of its members. */
export interface ShownInvoice {
  readonly id: string;
  readonly invoice_status: string;
  readonly payment_status: string;
  readonly total: string;
  readonly amount_remaining: string;
}

/** Events that a command has recorded, the revision of the last of them, and whether that was before: then the request is repeated. */
export interface Recorded {
  readonly events: readonly SubscriptionEvent[];
  readonly revision: number;
  readonly replayed: boolean;
}

/** Everything that subscriptions have to know of the invoices of what they settle: whoever invoices them tells it (ADR 47). */
export interface Invoicing {
  readonly schema: z.ZodType<ShownInvoice>;
  /** The latest invoices of subscriptions, by the ids of those; in a list without their lines. */
  readonly latest: (
    context: RequestContext,
    ids: readonly string[],
    options: { readonly isList: boolean },
  ) => Promise<ReadonlyMap<string, ShownInvoice>>;
  /**
   * Carries out at once what follows from the one settlement of a command: its invoice, and for a subscription that waits for its first
   * payment the collection. Returns that invoice, as far as it follows from the command; null where there is none yet, or several, which
   * follow by themselves.
   */
  readonly settle: (
    context: RequestContext,
    id: string,
    recorded: Recorded,
  ) => Promise<ShownInvoice | null>;
  /** The invoice that events would lead to, which are not recorded; null where they bill nothing. */
  readonly foresee: (
    context: RequestContext,
    id: string,
    events: readonly SubscriptionEvent[],
  ) => Promise<ShownInvoice | null>;
  /** Throws a Problem where the opening invoice of a subscription, whose events are not recorded yet, would not be paid at once. */
  readonly assertPaidAtOnce: (
    context: RequestContext,
    id: string,
    events: readonly SubscriptionEvent[],
  ) => Promise<void>;
}

/** Subscriptions that nobody invoices. */
export const noInvoicing: Invoicing = {
  schema: z.never(),
  latest: async () => new Map(),
  settle: async () => null,
  foresee: async () => null,
  assertPaidAtOnce: async () => undefined,
};

/** Resources of subscriptions with their latest invoices. */
export async function withLatestInvoices<Resource extends { readonly id: string }>(
  context: RequestContext,
  { latest }: Pick<Invoicing, 'latest'>,
  resources: readonly Resource[],
  { isList }: { readonly isList: boolean },
): Promise<(Resource & { readonly latest_invoice?: ShownInvoice })[]> {
  const ids = resources.map(({ id }) => id);
  const found = ids.length === 0 ? new Map() : await latest(context, ids, { isList });
  return resources.map((resource) => {
    const latest_invoice = found.get(resource.id);
    return latest_invoice === undefined ? resource : { ...resource, latest_invoice };
  });
}
