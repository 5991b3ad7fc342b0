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
  type Entry,
  lineText,
  type ModelAct,
  type ModelLife,
  usageText,
} from '@counterfoil/testkit';
import { followSubscription } from './change/decisions.ts';
import { createSubscription, type SubscriptionDecision, takeDue } from './decisions.ts';
import type { SubscriptionEvent } from './events.ts';
import type { SettlementLine } from './settlement/index.ts';
import { type SubscriptionState, subscription } from './subscription.ts';
import { decisionOf, orderOfLife } from './test-model-acts.ts';

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
    const data = subscription.events[event.type].parse(event.data);
    const stamp = { tenant_id: 't', environment_id: 'e', occurred_at: at, actor: {} };
    const stamped = { ...event, data, stamp } as unknown as Stamped<SubscriptionEvent>;
    this.state = subscription.evolve(this.state, stamped);
    switch (event.type) {
      case 'SubscriptionCreated':
        this.#name(event.data.lines);
        break;
      case 'LinesChanged':
        this.#name(event.data.begun);
        break;
      case 'AddonAttached':
      case 'PhaseAdded':
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
      rate: { ...this.#life, ...(this.state?.cycle as Pick<ModelLife, 'unit' | 'count'>) },
      lineOf: (name) => this.#current(name),
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

/** Cents of an amount of dollars. */
function centsOf(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole) * 100n + BigInt(fraction.padEnd(2, '0'));
}
