import { type ReactionContext, reaction } from '@counterfoil/engine/define';
import {
  type Aggregate,
  type AnyAggregate,
  canonicalJson,
  type Decision,
  type EventCatalogue,
  type Instant,
  Problem,
  type Stamp,
} from '@counterfoil/kernel';
import {
  hasEnded,
  type Offer,
  type OfferEvent,
  type OfferState,
  offer,
  overlap,
  type PriceData,
  willBeInForce,
} from '../offers/index.ts';
import type { AnyEvent, AnyRecord } from '../record/index.ts';
import { environment } from '../tenancy/index.ts';
import { catalogImport, finishImport, type Step } from './catalog-import.ts';
import { kinds } from './kinds.ts';

type AnyState = AnyRecord | null;
type Any = Aggregate<string, EventCatalogue, unknown>;

const aggregates: ReadonlyMap<string, AnyAggregate> = new Map(
  [...kinds.map(({ aggregate }) => aggregate), offer, environment].map((each) => [each.name, each]),
);

const atOnce = 16;

/** Refusals by which a record has changed since the import was decided. */
const overtaken: readonly string[] = ['already_exists', 'invalid_operation', 'not_found'];

/**
 * An import that is decided is carried out, and that it is done is recorded. A step has a key on its
 * record, so what is done stays done, whoever did it and whatever somebody has changed since.
 *
 * A step that somebody else has made impossible since the decision is left out, together with those
 * that need it. When the log cannot be written, the next attempt does the rest.
 */
export const importCarriedOut = reaction(catalogImport, {
  name: 'catalogue import',
  on: {
    CatalogImportStarted: async ({ aggregate_id }, context) => {
      const record = await context.load(catalogImport, aggregate_id);
      if (!record || record.finished) return;
      const refused: { id: string; message: string }[] = [];
      for (const group of inGroups(record.steps)) {
        const answers = await Promise.all(group.map((step) => carriedOut(context, step, refused)));
        for (const answer of answers) if (answer) refused.push(answer);
      }
      await context.execute(catalogImport, record.id, finishImport(refused));
    },
  },
});

/** Steps on several records of one kind need nothing of each other, so they go at once. */
function* inGroups(steps: readonly Step[]): Generator<readonly Step[]> {
  let group: Step[] = [];
  for (const step of steps) {
    const isFull = group.length === atOnce;
    const isOther = group.some(
      ({ aggregate, id }) => aggregate !== step.aggregate || id === step.id,
    );
    if (isFull || isOther) {
      yield group;
      group = [];
    }
    group.push(step);
  }
  if (group.length > 0) yield group;
}

async function carriedOut(
  context: ReactionContext,
  step: Step,
  refused: readonly { readonly id: string }[],
): Promise<{ id: string; message: string } | null> {
  const text = JSON.stringify(step.events);
  const missing = refused.find(({ id }) => text.includes(`"${id}"`));
  if (missing) return { id: step.id, message: `needs ${missing.id}, which was refused` };
  const aggregate = aggregates.get(step.aggregate) as unknown as Any | undefined;
  if (!aggregate) return { id: step.id, message: `there is no ${step.aggregate} any more` };
  try {
    await context.execute(aggregate, step.id, pending(step));
    return null;
  } catch (error) {
    if (!(error instanceof Problem) || !overtaken.includes(error.code)) throw error;
    return { id: step.id, message: error.message };
  }
}

/** The events of a step that have not happened yet. */
const pending =
  ({ aggregate, events }: Step): Decision<unknown, AnyEvent> =>
  (state, at) =>
    aggregate === offer.name
      ? pendingOfOffer(state as OfferState, events as unknown as readonly OfferEvent[], at)
      : pendingOf(aggregates.get(aggregate), state as AnyState, events);

const noStamp = { actor: { user_id: null, key_id: null } } as unknown as Stamp;

/**
 * Of a record that stands by itself: it is created once, and steps that change nothing are left
 * out.
 */
function pendingOf(
  aggregate: AnyAggregate | undefined,
  before: AnyState,
  events: readonly AnyEvent[],
): readonly AnyEvent[] {
  let state: unknown = before;
  return events.filter((event) => {
    const isCreation = event.type.endsWith('Created');
    if (isCreation !== (state === null)) return false;
    if (!isCreation && (state as AnyRecord).status !== 'published') return false;
    const next: unknown = aggregate?.evolve(state, { ...event, stamp: noStamp });
    const isNew = saysSomethingNew(state, next);
    state = next;
    return isNew;
  });
}

const saysSomethingNew = (before: unknown, after: unknown): boolean =>
  canonicalJson(unstamped(before)) !== canonicalJson(unstamped(after));

function unstamped(record: unknown): unknown {
  if (typeof record !== 'object' || record === null) return record;
  const stamps = ['created_at', 'created_by', 'updated_at', 'updated_by'];
  const ids = ['tenant_id', 'environment_id'];
  const own = Object.entries(record).filter(([name]) => ![...stamps, ...ids].includes(name));
  return Object.fromEntries(own);
}

function pendingOfOffer(
  before: OfferState,
  events: readonly OfferEvent[],
  at: Instant,
): readonly AnyEvent[] {
  let state = before;
  const left = events.filter((event) => {
    if (!isPending(state, event, at)) return false;
    state = offer.evolve(state, { ...event, stamp: noStamp });
    return true;
  });
  return left as unknown as readonly AnyEvent[];
}

/** Tells whether an event of an offer can happen and has not happened yet. */
function isPending(state: OfferState, event: OfferEvent, at: Instant): boolean {
  if (!state) return isCreation(event);
  if (isCreation(event) || state.root.record.status !== 'published') return false;
  const { prices, entitlements, credit_grants: grants } = state;
  switch (event.type) {
    case 'PriceCreated':
      if (prices.some(({ id }) => id === event.data.id)) return false;
      refuseOverlap(state, event.data, at);
      return true;
    case 'PriceUpdated':
      return prices.some((each) => !hasEnded(each, at) && differsFrom(each, event.data));
    case 'PriceEnded':
      return prices.some((each) => !hasEnded(each, at) && endsOtherwise(each, event.data));
    case 'EntitlementCreated':
      return !entitlements.some(({ feature_id }) => feature_id === event.data.feature_id);
    case 'EntitlementUpdated':
      return entitlements.some((each) => differsFrom(each, event.data));
    case 'EntitlementDeleted':
      return entitlements.some(({ id }) => id === event.data.id);
    case 'CreditGrantCreated':
      return !grants.some(({ id }) => id === event.data.id);
    case 'CreditGrantUpdated':
      return grants.some((each) => each.status === 'published' && differsFrom(each, event.data));
    case 'CreditGrantEnded':
      return grants.some((each) => each.status === 'published' && endsOtherwise(each, event.data));
    default:
      return changesRoot(state, event);
  }
}

interface Update {
  readonly id: string;
  readonly changes: object;
}

/** Tells whether a record is the one that an update is about, and not yet as it says. */
const differsFrom = (record: { readonly id: string }, { id, changes }: Update): boolean =>
  record.id === id && saysSomethingNew(record, { ...record, ...changes });

interface End {
  readonly id: string;
  readonly end_date: string | null;
  readonly is_final?: boolean;
  readonly status?: string;
}

/** Tells whether a record is the one that an end is about, and does not end like that yet. */
const endsOtherwise = (record: End, end: End): boolean =>
  record.id === end.id && saysSomethingNew(record, { ...record, ...end });

/**
 * Two prices with one lookup_key would charge twice: when somebody else has given the key another price
 * since the decision, that one stays.
 */
function refuseOverlap({ prices }: Offer, price: PriceData, at: Instant): void {
  if (price.lookup_key === null) return;
  const other = prices.find(
    (each) =>
      each.lookup_key === price.lookup_key && willBeInForce(each, at) && overlap(each, price),
  );
  if (!other) return;
  const message = `The price ${other.id} has the lookup_key ${JSON.stringify(price.lookup_key)} now.`;
  throw new Problem('already_exists', message);
}

const isCreation = ({ type }: OfferEvent): boolean =>
  type === 'PlanCreated' || type === 'AddonCreated' || type === 'CostsheetCreated';

const changesRoot = (state: Offer, event: OfferEvent): boolean =>
  saysSomethingNew(
    state.root.record,
    offer.evolve(state, { ...event, stamp: noStamp })?.root.record,
  );
