// biome-ignore-all lint/correctness/noUndeclaredDependencies: only tests import this file.
// The commands behind the acts of a model life.
import {
  type AddonAssociationId,
  type CreditGrantId,
  type DecimalText,
  instantOf,
  type PauseId,
  type ScheduleId,
  type SubscriptionId,
  type SubscriptionLineId,
} from '@counterfoil/kernel';
import type { ModelAct, ModelLife } from '@counterfoil/testkit';
import { attachAddon, removeAddon } from './addons/decisions.ts';
import type { OrderedAddon } from './addons/ordered-addon.ts';
import { changePlanTo } from './change/decisions.ts';
import {
  cancelSubscription,
  endUnpaid,
  noteFirstPayment,
  revertCancellation,
  type SubscriptionDecision,
  takeDue,
} from './decisions.ts';
import { changeHeirs, changeParent } from './families/decisions.ts';
import { addGrant, endGrant } from './grants/decisions.ts';
import { addLineItem, changeQuantities, endLineItem } from './lines/decisions.ts';
import { pauseSubscription, resumeSubscription } from './pauses/decisions.ts';
import { addPhase, removePhase } from './phases/decisions.ts';
import type { OrderedPhase } from './phases/prepare.ts';
import {
  customerNamed,
  grantOf,
  instantOrNull,
  orderedLine,
  orderOfPlan,
  ownGrantOf,
  parentNamed,
  type Rate,
} from './test-model-order.ts';
import { moveTrialEnd } from './trials/decisions.ts';

/** Everything that a command needs beyond its act. */
interface Doing {
  readonly id: SubscriptionId;
  readonly place: number;
  readonly life: ModelLife;
  /** Of the subscription as it is by now. */
  readonly rate: Rate;
  readonly isOnTrial: boolean;
  readonly lineOf: (name: string) => string;
  readonly addonOf: (name: string) => string;
  readonly grantOf: (name: string) => CreditGrantId;
  /** The phase at a place. */
  readonly phaseOf: (place: number) => string;
}

/** The command of an act. */
export function decisionOf(act: ModelAct, doing: Doing): SubscriptionDecision {
  const { id } = doing;
  switch (act.kind) {
    case 'look':
      return takeDue(id);
    case 'pay':
      return noteFirstPayment('inv_opening', () => true);
    case 'expire':
      return endUnpaid(() => true);
    case 'revert':
      return revertCancellation(id);
    case 'cancel':
    case 'cancel at end':
      return cancelSubscription(id, cancellationOf(act, act.kind));
    case 'cancel on':
      return cancelSubscription(id, cancellationOf(act, act.kind, act.on));
    case 'pause':
    case 'pause on':
    case 'pause at end':
      return pauseSubscription(id, {
        ...{ id: `pause_${doing.place}` as PauseId, bills_usage: act.bills },
        pause_mode: pauseModes[act.kind],
        start: act.kind === 'pause on' ? instantOf(act.on) : null,
        end: act.until === null ? null : instantOf(act.until),
        ...{ days: null, reason: null, metadata: {}, quoted: null },
      });
    case 'resume':
      return resumeSubscription(id, { resume_mode: 'immediate', at: null });
    case 'trial':
      return moveTrialEnd(id, { end: instantOf(act.to), quoted: null });
    case 'change':
    case 'change at end':
      return changePlanTo(id, {
        order: orderOfPlan(doing.life, act.plan, act, doing),
        prices_of_plan: new Set(['price_01']),
        proration: prorationOf(act),
        change_at: act.kind === 'change' ? 'immediate' : 'end_of_period',
        schedule_id: 'sched_02' as ScheduleId,
        quoted: null,
      });
    case 'phase':
      return addPhase(id, {
        prices_of_plan: new Set(['price_01']),
        ordered: phaseOf(act, doing),
        coupons: [],
      });
    case 'drop phase':
      return removePhase(id, doing.phaseOf(act.place));
    case 'grant':
    case 'end grant':
    case 'share':
    case 'unshare':
    case 'group':
      return decisionBeside(act, doing);
    default:
      return lineDecisionOf(act, doing);
  }
}

type ActBeside = Extract<ModelAct, { kind: 'grant' | 'end grant' | 'share' | 'unshare' | 'group' }>;

/** The command of an act on what is beside lines and time. */
function decisionBeside(act: ActBeside, { id, ...doing }: Doing): SubscriptionDecision {
  switch (act.kind) {
    case 'grant':
      return addGrant(id, ownGrantOf(act.grant));
    case 'end grant':
      return endGrant(id, doing.grantOf(act.grant), instantOrNull(act.on));
    case 'share':
    case 'unshare': {
      const named = [{ customer_id: customerNamed(act.customer), pointer: '' }];
      const isAdded = act.kind === 'share';
      return changeHeirs(id, { added: isAdded ? named : [], removed: isAdded ? [] : named });
    }
    case 'group':
      return changeParent(id, act.parent && parentNamed(act.parent));
    default:
      return act satisfies never;
  }
}

/** A phase as a request for it makes it. */
function phaseOf(act: Extract<ModelAct, { kind: 'phase' }>, { place, rate }: Doing): OrderedPhase {
  const phase = {
    id: `phase_${place}` as OrderedPhase['phase']['id'],
    start_date: instantOf(act.on),
    ...{ end_date: null, metadata: {}, entitlements: [] },
  };
  return {
    phase,
    lines: act.lines.map((line) => ({
      ...orderedLine(line, rate, 'plan'),
      from: phase.start_date,
      subscription_phase_id: phase.id,
    })),
  };
}

const pauseModes = {
  pause: 'immediate',
  'pause on': 'scheduled',
  'pause at end': 'period_end',
} as const;

const prorationOf = ({ prorates }: ModelAct) =>
  prorates ? ('create_prorations' as const) : ('none' as const);

type LineAct = Extract<ModelAct, { kind: 'quantity' | 'add' | 'remove' | 'attach' | 'detach' }>;

function lineDecisionOf(act: LineAct, { id, place, rate, lineOf: line_id, addonOf }: Doing) {
  const proration = prorationOf(act);
  switch (act.kind) {
    case 'quantity': {
      const change = {
        line_id: line_id(act.line),
        quantity: String(act.quantity) as DecimalText,
        next_id: `subs_line_${place}x` as SubscriptionLineId,
        ...{ effective_date: null, pointer: '' },
      };
      return changeQuantities(id, [change], { proration, quoted: null });
    }
    case 'add': {
      const line = orderedLine(act.added, rate, 'subscription');
      return addLineItem(id, `subs_line_${place}y` as SubscriptionLineId, line, {
        ...{ proration, at: null },
      });
    }
    case 'remove':
      return endLineItem(id, {
        line_id: line_id(act.line),
        ...{ effective_from: null, quoted: null, proration },
      });
    case 'attach': {
      const addon: OrderedAddon = {
        id: `addon_assoc_${place}` as AddonAssociationId,
        addon_id: `addon_${place}` as OrderedAddon['addon_id'],
        addon_name: act.addon,
        cadence: act.isOnce ? 'onetime' : 'recurring',
        ...{ start_date: null, metadata: {}, entitlements: [], pointer: '' },
        grants: act.grants.map(grantOf),
        lines: act.lines.map((line) => orderedLine(line, rate, 'addon')),
      };
      return attachAddon(id, addon, { proration, at: null });
    }
    case 'detach':
      return removeAddon(id, {
        addon_association_id: addonOf(act.addon),
        effective_date: act.isNow ? instantOf(act.at) : null,
        ...{ proration, reason: null },
      });
    default:
      return act satisfies never;
  }
}

const cancellationTypes = {
  cancel: 'immediate',
  'cancel at end': 'end_of_period',
  'cancel on': 'scheduled_date',
} as const;

const cancellationOf = (
  act: ModelAct,
  kind: keyof typeof cancellationTypes,
  on: number | null = null,
) => ({
  cancellation_type: cancellationTypes[kind],
  cancel_at: on === null ? null : instantOf(on),
  proration_behavior: prorationOf(act),
  skips_arrears: false,
  reason: null,
  schedule_id: 'sched_01' as ScheduleId,
});
