import {
  type Changes,
  changedFields,
  type Id,
  type IdPrefix,
  invariant,
  isEmpty,
  withChanges,
  writable,
} from '@counterfoil/kernel';
import {
  addonOf,
  costsheetOf,
  type Offer,
  type OfferDecision,
  type OfferEvent,
  type OfferState,
  planOf,
} from '../offer.ts';
import { type Kept, publishedIds, type TakenAlong } from '../records.ts';
import { addonRoot, costsheetRoot, planRoot } from './roots.ts';
import type {
  CreateAddon,
  CreateCostsheet,
  CreatePlan,
  UpdateAddon,
  UpdateCostsheet,
  UpdatePlan,
} from './schema.ts';

function takenAlong(state: Offer | null): TakenAlong {
  invariant(state, 'an offer exists when it goes out of use');
  return {
    prices: publishedIds(state.prices),
    entitlements: publishedIds(state.entitlements),
    credit_grants: publishedIds(state.credit_grants),
  };
}

/** The commands on an offer itself. `rootOf` gives it where it is of this kind; `empty` is a new one. */
const rootCommands = <Prefix extends IdPrefix, Root extends Kept, Create extends object, Update>(
  root: {
    readonly title: string;
    readonly end: 'Archived' | 'Deleted';
    readonly prefix: Prefix;
    readonly called: string;
  },
  rootOf: (state: OfferState) => Root | null,
  empty: object,
) => {
  const { title, end, called } = root;
  const event = (step: string, data: object) =>
    [{ type: `${title}${step}`, data }] as unknown as OfferEvent[];
  return {
    /** Creates the offer, without anything that it owns. */
    create:
      (id: Id<Prefix>, request: Create): OfferDecision =>
      (state) => {
        invariant(state === null, `${called} ${id} is created twice`);
        return event('Created', { id, ...withChanges<object>(empty, request) });
      },
    /** Changes the fields that are given and differ. */
    update:
      (id: Id<Prefix>, request: Update): OfferDecision =>
      (state) => {
        const current = writable(rootOf(state), called, id);
        const changes = changedFields<object>(current, request as Changes<object>);
        return isEmpty(changes) ? [] : event('Updated', { changes });
      },
    /** Takes it out of use with all that it owns, for good. One that is archived stays as it is. */
    end:
      (id: Id<Prefix>): OfferDecision =>
      (state) => {
        if (rootOf(state)?.status === 'archived') return [];
        writable(rootOf(state), called, id);
        return event(end, takenAlong(state));
      },
  };
};

const nothing = { lookup_key: null, description: null, metadata: {} } as const;

export const {
  create: createPlan,
  update: updatePlan,
  end: archivePlan,
} = rootCommands<'plan', NonNullable<ReturnType<typeof planOf>>, CreatePlan, UpdatePlan>(
  planRoot,
  planOf,
  { ...nothing, display_order: null },
);

export const {
  create: createAddon,
  update: updateAddon,
  end: archiveAddon,
} = rootCommands<'addon', NonNullable<ReturnType<typeof addonOf>>, CreateAddon, UpdateAddon>(
  addonRoot,
  addonOf,
  { description: null, metadata: {} },
);

export const {
  create: createCostsheet,
  update: updateCostsheet,
  end: deleteCostsheet,
} = rootCommands<
  'cost',
  NonNullable<ReturnType<typeof costsheetOf>>,
  CreateCostsheet,
  UpdateCostsheet
>(costsheetRoot, costsheetOf, nothing);
