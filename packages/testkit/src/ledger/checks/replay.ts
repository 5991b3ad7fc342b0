import { type Hold, inOrder, type Lot, refill, setAside, takeFromKept } from '../books.ts';
import type { Data, HistoryEvent } from '../history.ts';
import { creditsOf } from '../units.ts';
import { must } from './fault.ts';

/** A lot with its whole life: its credits are consumed, expired, held or left. */
export interface ReplayedLot extends Lot {
  readonly id: string;
  readonly granted: bigint;
  consumed: bigint;
  expired: bigint;
}

const purchases = ['PURCHASED_CREDIT_DIRECT', 'PURCHASED_CREDIT_INVOICED'];
const time = (text: string | null): number | null => (text === null ? null : Date.parse(text));

/** A wallet as its events say it is, added up again: no balance that an event claims is believed. */
export class Replay {
  balance = 0n;
  status: 'active' | 'frozen' | 'closed' = 'active';
  created: Data = {};
  createdAt = '';
  alertSettings: Data | null = null;
  autoTopUp: Data | null = null;
  /** Its place among the wallets of its customer. */
  priority: number | null = null;
  /** The day and the number of each automatic top-up, and those that wait for their payment. */
  readonly automatic = new Set<string>();
  readonly #waiting = new Set<string>();
  /** Credits of each debit and capture that have not come back. */
  readonly #reversible = new Map<string, bigint>();
  alert = 'ok';
  readonly lots = new Map<string, ReplayedLot>();
  readonly holds = new Map<string, Hold>();
  /** The instant for which a hold was made, of those that are dated back. */
  readonly datings = new Map<string, string>();
  /** The fate of each hold that was ever made. */
  readonly ends = new Map<string, 'open' | 'captured' | 'voided' | 'expired'>();

  /** The fate of each order of credits. */
  readonly orders = new Map<string, 'pending' | 'completed' | 'failed'>();

  /** Takes the next event. Types that change nothing here are passed over. */
  take(event: HistoryEvent): void {
    const { type, data } = event;
    if (data.automatic) {
      this.automatic.add(`${data.automatic.day} ${data.automatic.number}`);
      if (type === 'TopUpRequested') this.#waiting.add(data.transaction_id);
      else this.#waiting.delete(data.transaction_id);
    }
    switch (type) {
      case 'WalletCreated':
        this.created = data;
        this.createdAt = event.metadata.occurred_at;
        this.alertSettings = data.alert_settings;
        this.autoTopUp = data.auto_topup;
        this.priority = data.priority ?? null;
        return;
      case 'WalletSettingsChanged':
        if ('priority' in data) this.priority = data.priority;
        if ('alert_settings' in data) this.alertSettings = data.alert_settings;
        if ('auto_topup' in data) this.autoTopUp = data.auto_topup;
        return;
      case 'CreditsLoaded':
        if (data.requested) this.#endOrder(event, 'completed');
        this.#load(data);
        return;
      case 'TopUpRequested':
        must(!this.orders.has(data.transaction_id), event, 'the same order is made twice');
        this.orders.set(data.transaction_id, 'pending');
        return;
      case 'TopUpFailed':
        this.#endOrder(event, 'failed');
        return;
      case 'CreditsDebited':
      case 'CreditsExpired':
        if (type === 'CreditsDebited') this.#took(data);
        this.balance -= creditsOf(data.credits);
        for (const draw of data.drawn) this.#draw(event, draw, type === 'CreditsExpired');
        return;
      case 'DebitReversed':
        this.#reverse(event);
        return;
      case 'CreditsHeld':
        this.#hold(event);
        return;
      case 'HoldChanged':
        this.#change(event);
        return;
      case 'HoldCaptured':
      case 'HoldReleased':
        this.#end(event);
        return;
      case 'WalletFrozen':
        this.status = 'frozen';
        return;
      case 'WalletUnfrozen':
        this.status = 'active';
        return;
      case 'WalletClosed':
        this.status = 'closed';
        return;
      case 'AlertStateChanged':
        this.alert = data.after;
        return;
      default:
    }
  }

  /** Lots that have credits. */
  openLots(): ReplayedLot[] {
    return [...this.lots.values()].filter(({ left }) => left > 0n);
  }

  /** Credits that can be spent. */
  spendable(): bigint {
    return this.balance - this.held();
  }

  /** Tells whether an automatic order waits for its payment. */
  isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  held(): bigint {
    return [...this.holds.values()].reduce((sum, { credits }) => sum + credits, 0n);
  }

  /** Adds up what holds have of a lot, or of all. */
  heldOf(number: number | null): bigint {
    return [...this.holds.values()]
      .flatMap(({ parts }) => parts)
      .filter((part) => number === null || part.number === number)
      .reduce((sum, { left }) => sum + left, 0n);
  }

  lotOf(event: HistoryEvent, id: string): ReplayedLot {
    const lot = this.lots.get(id);
    must(lot !== undefined, event, `names a load ${id} that there never was`);
    return lot as ReplayedLot;
  }

  #load(data: Data): void {
    this.balance += creditsOf(data.credits);
    const left = creditsOf(data.credits_available);
    this.lots.set(data.transaction_id, {
      id: data.transaction_id,
      number: data.sequence,
      isPurchased: purchases.includes(data.reason),
      priority: data.priority,
      from: Date.parse(data.effective_at),
      expires: time(data.expires_at),
      left,
      granted: left,
      consumed: 0n,
      expired: 0n,
    });
  }

  #took({ transaction_id: id, credits }: Data): void {
    this.#reversible.set(id, creditsOf(credits));
  }

  /** Gives credits back to lots, whose expiry it may renew; what was never in a lot is one of its own. */
  #reverse(event: HistoryEvent): void {
    const { data } = event;
    const credits = creditsOf(data.credits);
    const left = (this.#reversible.get(data.reverses) ?? 0n) - credits;
    must(left >= 0n, event, `gives back more than ${data.reverses} took`);
    this.#reversible.set(data.reverses, left);
    for (const { transaction_id: id, credits: some, expires_at } of data.returned) {
      const lot = this.lotOf(event, id);
      const back = creditsOf(some);
      must(back <= lot.consumed + lot.expired, event, `gives more back to ${id} than it gave`);
      lot.consumed -= back;
      const at = Date.parse(data.effective_at);
      this.lots.set(id, {
        ...lot,
        from: lot.left > 0n ? lot.from : at,
        refilled: lot.left > 0n ? refill(lot, at) : null,
        left: lot.left + back,
        expires: time(expires_at),
      });
    }
    this.#load({ ...data, reason: 'PURCHASED_CREDIT_DIRECT', priority: null, expires_at: null });
  }

  #endOrder(event: HistoryEvent, status: 'completed' | 'failed'): void {
    const id = String(event.data.transaction_id);
    must(this.orders.get(id) === 'pending', event, `the order ${id} ends, and was not open`);
    this.orders.set(id, status);
  }

  #draw(event: HistoryEvent, draw: Data, isExpiry: boolean): void {
    const lot = this.lotOf(event, draw.transaction_id);
    const credits = creditsOf(draw.credits);
    must(credits > 0n && credits <= lot.left, event, `draws ${draw.credits} from ${lot.id}`);
    if (!isExpiry)
      takeFromKept([lot], [{ ...lot, left: credits }], Date.parse(event.data.effective_at));
    lot.left -= credits;
    if (isExpiry) lot.expired += credits;
    else lot.consumed += credits;
  }

  #hold(event: HistoryEvent): void {
    const { hold_id: id, credits, expires_at, drawn } = event.data;
    const since = event.data.debit_effective_at ?? event.metadata.occurred_at;
    must(!this.ends.has(id), event, `the hold ${id} is made twice`);
    const parts = drawn.map((draw: Data): Lot => {
      const lot = this.lotOf(event, draw.transaction_id);
      const taken = creditsOf(draw.credits);
      must(taken > 0n && taken <= lot.left, event, `holds ${draw.credits} of ${lot.id}`);
      const part = setAside({ ...lot, left: taken });
      takeFromKept([lot], [part], Date.parse(since));
      lot.left -= taken;
      return part;
    });
    const { debit_effective_at: dating } = event.data;
    if (dating) this.datings.set(id, dating);
    const isShare = event.data.debit_id !== undefined;
    const expires = time(expires_at);
    this.holds.set(id, { id, isShare, credits: creditsOf(credits), expires, parts });
    this.ends.set(id, 'open');
  }

  /** Tells whether a debit of the customer holds credits: nobody judges the alert until it has ended. */
  hasShare(): boolean {
    return [...this.holds.values()].some(({ isShare }) => isShare);
  }

  #end(event: HistoryEvent): void {
    const { type, data } = event;
    const hold = this.holds.get(data.hold_id);
    must(hold !== undefined, event, `the hold ${data.hold_id} ends, and was not open`);
    if (!hold) return;
    if (type === 'HoldCaptured') {
      const credits = creditsOf(data.credits);
      must(credits <= hold.credits, event, `captures ${data.credits}, more than was held`);
      this.#took(data);
      this.balance -= credits;
      for (const draw of data.drawn) this.#capture(event, hold, draw);
    }
    if (data.is_final === false) {
      must(data.returned.length === 0, event, 'gives back what it holds');
      this.holds.set(data.hold_id, { ...hold, credits: hold.credits - creditsOf(data.credits) });
      return;
    }
    for (const draw of data.returned) this.#giveBack(event, hold, draw);
    // The rest of the parts has paid a debt.
    for (const { number, left } of hold.parts) this.#consume(number, left);
    this.holds.delete(data.hold_id);
    this.ends.set(data.hold_id, type === 'HoldCaptured' ? 'captured' : data.cause);
  }

  /** Sets a hold to what the event says that it has of each lot; what is gone and not back has paid a debt. */
  #change(event: HistoryEvent): void {
    const { data } = event;
    const hold = this.holds.get(data.hold_id);
    must(hold !== undefined, event, `the hold ${data.hold_id} changes, and was not open`);
    if (!hold) return;
    const parts = new Map(hold.parts.map((part) => [part.number, { ...part }]));
    for (const draw of data.drawn) {
      const lot = this.lotOf(event, draw.transaction_id);
      const more = creditsOf(draw.credits);
      must(more <= lot.left, event, `holds ${draw.credits} of ${lot.id}`);
      const known = parts.get(lot.number);
      const added = setAside({ ...lot, left: (known?.left ?? 0n) + more });
      lot.left -= more;
      const from = known && known.from > added.from ? known.from : added.from;
      parts.set(lot.number, { ...added, from });
    }
    const before = { ...hold, parts: [...parts.values()] };
    for (const draw of data.returned) this.#giveBack(event, before, draw);
    const now = new Map(
      data.parts.map((part: Data) => [
        this.lotOf(event, part.transaction_id).number,
        creditsOf(part.credits),
      ]),
    );
    for (const part of before.parts) {
      const left = (now.get(part.number) ?? 0n) as bigint;
      must(left <= part.left, event, `holds more of entry ${part.number} than it drew`);
      this.#consume(part.number, part.left - left);
      part.left = left;
    }
    this.holds.set(hold.id, {
      ...before,
      credits: creditsOf(data.credits),
      expires: time(data.expires_at),
      parts: inOrder(before.parts.filter(({ left }) => left > 0n)),
    });
  }

  #consume(number: number, credits: bigint): void {
    const lot = [...this.lots.values()].find((each) => each.number === number);
    if (lot) lot.consumed += credits;
  }

  /** Takes what a hold has of a lot first, and then what the lot itself has. */
  #capture(event: HistoryEvent, hold: Hold, draw: Data): void {
    const lot = this.lotOf(event, draw.transaction_id);
    const credits = creditsOf(draw.credits);
    const part = hold.parts.find(({ number }) => number === lot.number);
    const own = part && part.left < credits ? part.left : part ? credits : 0n;
    if (part) part.left -= own;
    must(credits - own <= lot.left, event, `captures ${draw.credits} of ${lot.id}`);
    lot.left -= credits - own;
    lot.consumed += credits;
  }

  #giveBack(event: HistoryEvent, hold: Hold, draw: Data): void {
    const lot = this.lotOf(event, draw.transaction_id);
    const credits = creditsOf(draw.credits);
    const part = hold.parts.find(({ number }) => number === lot.number);
    must(
      part !== undefined && credits <= part.left,
      event,
      `gives ${draw.credits} back to ${lot.id}`,
    );
    if (!part) return;
    part.left -= credits;
    // What was held all the time has counted all the time, also when its lot was empty meanwhile and refilled.
    const isEmpty = lot.left === 0n;
    const isLater = !isEmpty && part.from > lot.from;
    this.lots.set(lot.id, {
      ...lot,
      from: isEmpty ? part.from : lot.from,
      refilled: isEmpty ? null : isLater ? refill(lot, part.from) : (lot.refilled ?? null),
      left: lot.left + credits,
    });
  }
}
