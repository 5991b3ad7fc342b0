// biome-ignore-all lint/correctness/noUndeclaredDependencies: only tests import this file.
import {
  type Instant,
  instantOf,
  millisecondsOf,
  Problem,
  type Stamped,
  type SubscriptionId,
} from '@counterfoil/kernel';
import {
  type Account,
  commitmentText,
  couponText,
  type Entry,
  grantedText,
  heirText,
  lineText,
  type ModelAct,
  type ModelLife,
  ungrantedText,
  usageText,
} from '@counterfoil/testkit';
import { followSubscription } from './change/decisions.ts';
import { createSubscription, type SubscriptionDecision, takeDue } from './decisions.ts';
import type { CreatedData, SubscriptionEvent } from './events.ts';
import type { HeirData } from './families/family.ts';
import { disinherit, follow, inherit, inheritedTerms } from './families/following.ts';
import { applicationId } from './grants/grant.ts';
import type { SettlementLine } from './settlement/index.ts';
import { type SubscriptionState, subscription } from './subscription.ts';
import { decisionOf } from './test-model-acts.ts';
import { orderOfLife } from './test-model-order.ts';

type PlanChanged = Extract<SubscriptionEvent, { type: 'PlanChanged' }>['data'];

interface Stretch {
  readonly from: number;
  readonly to: number;
}

const stretchOf = ({
  start,
  end,
}: {
  readonly start: Instant;
  readonly end: Instant;
}): Stretch => ({
  from: millisecondsOf(start),
  to: millisecondsOf(end),
});

/** The subscription of somebody who inherits one. */
interface LivedHeir {
  readonly name: string;
  state: SubscriptionState;
  readonly closed: Stretch[];
}

/** A life as the commands live it. */
export class Lived {
  readonly #life: ModelLife;
  readonly #settled: Entry[] = [];
  readonly #closed: Stretch[] = [];
  /** The name of each line that there was. */
  readonly #names = new Map<string, string>();
  readonly billed: Stretch[] = [];
  state: SubscriptionState = null;
  #id = 'subs_01' as SubscriptionId;
  /** The change of plan whose other subscription is to be created. */
  #change: PlanChanged | null = null;
  #ended: number | null = null;
  #events = 0;
  readonly #credits: string[] = [];
  readonly #heirs = new Map<string, LivedHeir>();

  constructor(life: ModelLife) {
    this.#life = life;
  }

  run(): Account {
    const { ordered, acts } = this.#life;
    this.#decide(createSubscription(orderOfLife(this.#life)), ordered);
    this.#catchUp(ordered);
    const accepted = acts.map((act, place) => {
      this.#catchUp(act.at);
      const isDone = this.#decide(this.#decisionOf(act, place), act.at);
      this.#catchUp(act.at);
      return isDone;
    });
    return {
      settled: this.#settled.map(({ at, lines }) => ({ at, lines: [...lines].sort() })),
      closed: this.#closed,
      credits: this.#credits.sort(),
      coupons: this.#coupons(),
      heirs: [...this.#heirs.values()].map(heirOf),
      family: this.#family(),
      accepted,
      ended: this.#ended,
    };
  }

  #catchUp(now: number): void {
    for (let before = -1; before !== this.#events; ) {
      before = this.#events;
      this.#decide(takeDue(this.#id), now);
      if (this.#change !== null) this.#follow(this.#change, now);
    }
  }

  /** Goes on with the subscription that follows under another plan, as the reaction does. */
  #follow(change: PlanChanged, now: number): void {
    const before = this.#id;
    this.#change = null;
    this.#id = change.to.id;
    this.state = null;
    this.#decide(followSubscription(change, before), now);
  }

  #decide(decision: SubscriptionDecision, now: number): boolean {
    const at = instantOf(now);
    try {
      for (const event of decision(this.state, at)) this.#record(event, at);
      return true;
    } catch (error) {
      if (error instanceof Problem) return false;
      throw error;
    }
  }

  #record(event: SubscriptionEvent, at: Instant): void {
    this.#events += 1;
    const stamped = stampedAt(event, at);
    this.#tellOfCredits(event);
    this.state = subscription.evolve(this.state, stamped);
    this.#carryOut(event, at);
    switch (event.type) {
      case 'SubscriptionCreated':
        this.#name(event.data.lines);
        break;
      case 'LinesChanged':
        this.#name(event.data.begun);
        break;
      case 'AddonAttached':
      case 'PhaseAdded':
      case 'PhaseRemoved':
        this.#name(event.data.change.begun);
        break;
      case 'PlanChanged':
        this.#change = event.data;
        break;
      case 'PeriodClosed':
        this.#closed.push(stretchOf(event.data));
        break;
      case 'SubscriptionCancelled':
        if (event.data.cause !== 'plan_change') {
          this.#ended = millisecondsOf(event.data.effective_at);
        }
        break;
      case 'SettlementRecorded': {
        const lines = event.data.lines.map((line) => this.#text(line));
        this.#settled.push({ at: millisecondsOf(event.data.at), lines });
        break;
      }
      default:
    }
  }

  /** Credits that are given, and those that are not any more. */
  #tellOfCredits(event: SubscriptionEvent): void {
    switch (event.type) {
      case 'CreditsGranted': {
        const { name, index: number, credits, expires_at, period_start, period_end } = event.data;
        const time = { from: millisecondsOf(period_start), to: momentOrNull(period_end) };
        const text = grantedText({ name, number }, time, credits, momentOrNull(expires_at));
        this.#credits.push(text);
        break;
      }
      case 'CreditsSkipped':
        this.#ungranted('skipped', [event.data.application_id]);
        break;
      case 'GrantChanged':
        if (event.data.application !== null) this.#ungranted('lost', [event.data.application]);
        break;
      case 'AddonEnded':
      case 'SubscriptionCancelled':
        this.#ungranted('lost', event.data.applications);
        break;
      default:
    }
  }

  /** Applications that were to come, by what they would have been. */
  #ungranted(why: 'skipped' | 'lost', applications: readonly string[]): void {
    for (const application of applications) {
      const grant = this.state?.grants.find(
        ({ id, next_index: next }) => next !== null && applicationId(id, next) === application,
      );
      const number = grant?.next_index ?? -1;
      this.#credits.push(ungrantedText(why, { name: grant?.name ?? application, number }));
    }
  }

  /** Carries out on those who inherit the subscription what was decided on it, as the reaction does. */
  #carryOut(event: SubscriptionEvent, at: Instant): void {
    switch (event.type) {
      case 'SubscriptionCreated':
        this.#inherit(event.data, event.data.family.heirs, null, at);
        break;
      case 'HeirsChanged': {
        const { terms, added, removed, opened } = event.data;
        this.#inherit(terms, added, opened, at);
        for (const id of removed) this.#decideOf(id, disinherit(event.data.at), at);
        break;
      }
      case 'HeirsTold':
        for (const id of event.data.heirs) this.#decideOf(id, follow(event.data.events), at);
        break;
      default:
    }
  }

  #inherit(
    terms: CreatedData,
    heirs: readonly HeirData[],
    opened: Parameters<typeof inherit>[1],
    at: Instant,
  ): void {
    for (const heir of heirs) {
      const customer = heir.customer_id.slice('cust_'.length);
      const known = [...this.#heirs.values()];
      const earlier = known.filter(({ name }) => name.startsWith(`${customer} `)).length;
      const name = `${customer} ${earlier}`;
      this.#heirs.set(heir.subscription_id, { name, state: null, closed: [] });
      this.#decideOf(heir.subscription_id, inherit(inheritedTerms(terms, heir), opened), at);
    }
  }

  #decideOf(id: string, decision: SubscriptionDecision, at: Instant): void {
    const heir = this.#heirs.get(id);
    if (heir === undefined) throw new Error(`nobody has ${id}`);
    for (const event of decision(heir.state, at)) {
      heir.state = subscription.evolve(heir.state, stampedAt(event, at));
      if (event.type === 'PeriodClosed') heir.closed.push(stretchOf(event.data));
    }
  }

  #coupons(): readonly string[] {
    const placeOf = (name: string) =>
      this.#life.coupons.find((each) => each.name === name)?.phase ?? null;
    return (this.state?.coupons ?? []).map(({ name, line_item_id: id, phase_id, ...dates }) => {
      const line = id === null ? null : (this.#names.get(id) ?? id);
      const phase = this.#life.phases.length > 0 && phase_id !== null ? placeOf(name) : null;
      const { start_date, end_date } = dates;
      return couponText({ name, line, phase }, millisecondsOf(start_date), momentOrNull(end_date));
    });
  }

  #family(): string {
    const { parent, invoicing_customer_id: payer } = this.state?.family ?? {};
    const group = parent?.subscription_id.slice('subs_'.length) ?? 'alone';
    return `${group}, paid by ${payer?.slice('cust_'.length) ?? 'itself'}`;
  }

  #name(lines: readonly { readonly id: string; readonly display_name: string }[]): void {
    for (const { id, display_name } of lines) this.#names.set(id, display_name);
  }

  #text(line: SettlementLine): string {
    const stretch = stretchOf(line.span);
    const { line_item_id: id } = line;
    const name = id === null ? null : (this.#names.get(id) ?? id);
    switch (line.kind) {
      case 'commitment':
        return commitmentText(name, stretch, centsOf(line.committed), line.true_up);
      case 'usage':
        this.billed.push(stretch);
        return usageText(name ?? '', stretch, line.excluded.map(stretchOf));
      default:
        return lineText(line.kind, name ?? '', stretch, centsOf(line.amount));
    }
  }

  #decisionOf(act: ModelAct, place: number): SubscriptionDecision {
    return decisionOf(act, {
      place,
      id: this.#id,
      life: this.#life,
      isOnTrial: this.state?.subscription_status === 'trialing',
      rate: { ...this.#life, ...(this.state?.cycle as Pick<ModelLife, 'unit' | 'count'>) },
      lineOf: (name) => this.#current(name),
      phaseOf: (place) => this.state?.phases[place]?.id ?? 'phase_none',
      grantOf: (name) =>
        this.state?.grants.findLast((each) => each.name === name)?.id ?? ('cg_none' as never),
      addonOf: (name) =>
        this.state?.addons.find((each) => each.addon_name === name)?.id ?? 'addon_assoc_none',
    });
  }

  /** The line that stands under a name now. */
  #current(name: string): string {
    const lines = this.state?.lines ?? [];
    return lines.findLast((line) => this.#names.get(line.id) === name)?.id ?? 'subs_line_none';
  }
}

/** An event as it is recorded. */
function stampedAt(event: SubscriptionEvent, at: Instant): Stamped<SubscriptionEvent> {
  const data = subscription.events[event.type].parse(event.data);
  const stamp = { tenant_id: 't', environment_id: 'e', occurred_at: at, actor: {} };
  return { ...event, data, stamp } as unknown as Stamped<SubscriptionEvent>;
}

const momentOrNull = (at: Instant | null): number | null => at && millisecondsOf(at);

/** The life of one who inherits, in the words of the model. */
const heirOf = ({ name, state, closed }: LivedHeir): string =>
  heirText({
    ...{ name, closed },
    status: state?.subscription_status ?? 'missing',
    open: state?.opened ? stretchOf(state.opened) : null,
    ended: momentOrNull(state?.cancelled_at ?? null),
  });

/** Cents of an amount of dollars. */
function centsOf(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole) * 100n + BigInt(fraction.padEnd(2, '0'));
}
