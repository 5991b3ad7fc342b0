import { type Following, followingOf } from './following.ts';
import {
  type Account,
  type ActOf,
  type ModelAct,
  type ModelGrant,
  type ModelLife,
  type ModelPlan,
  type Moment,
  ofRunning,
} from './life.ts';
import { Living } from './living.ts';
import { common, never } from './own-time.ts';
import type { Piece } from './pieces.ts';
import { Rhythm } from './rhythm.ts';
import type { Sold } from './sold.ts';

/**
 * A subscription that is lived through by the rules of the documents, in plain numbers (D31, D32, D63, D65, D67, D68; billing of
 * fixed prices in advance and in arrears, and of usage). It shares nothing with the service.
 */
class Model extends Living {
  protected act(act: ModelAct): boolean {
    if (this.pause?.runs && ofRunning.has(act.kind)) return false;
    switch (act.kind) {
      case 'look':
        return true;
      case 'cancel':
        this.finish(act.at, act.prorates);
        return true;
      case 'cancel at end':
        if (this.open === null) return false;
        this.cancel = { at: this.running().window.to, prorates: act.prorates, isAtEnd: true };
        return true;
      case 'cancel on':
        if (act.on <= act.at || act.on > this.end) return false;
        this.cancel = { at: act.on, prorates: act.prorates, isAtEnd: false };
        return true;
      case 'revert':
        this.cancel = null;
        return true;
      case 'pause':
      case 'pause on':
      case 'pause at end':
        return this.#paused(act);
      case 'resume':
        return this.#resumed(act.at);
      case 'trial':
        return this.#moveTrial(act);
      case 'change':
      case 'change at end':
        return this.#changePlan(act);
      case 'quantity':
        return this.#changeQuantity(act);
      case 'add':
        return this.#add(act);
      case 'remove':
        return this.#remove(act);
      case 'attach':
        return this.#attach(act);
      case 'detach':
        return this.#detach(act);
      case 'phase':
        return this.#addPhase(act);
      case 'drop phase':
        return this.#dropPhase(act);
      default:
        return this.#actBeside(act);
    }
  }

  /** Acts on what is beside lines and time. */
  #actBeside(
    act: ActOf<'grant' | 'end grant' | 'share' | 'unshare' | 'group' | 'pay' | 'expire'>,
  ): boolean {
    switch (act.kind) {
      case 'pay':
      case 'expire':
        return true;
      case 'grant':
        if (Math.max(act.grant.from ?? act.at, this.since) >= this.end) return false;
        return this.grants.addOwn(act.grant, act.at, this.start, this.since);
      case 'end grant':
        return this.grants.end(act.grant, Math.max(act.on ?? 0, act.at));
      case 'share':
      case 'unshare':
        return this.#share(act);
      case 'group': {
        const { parent } = act;
        if (parent === null || parent.name === this.group) {
          this.group = parent?.name ?? null;
          return true;
        }
        const isAlike = parent.unit === this.rate.unit && parent.count === this.rate.count;
        const isParent = this.group === null && this.heirs.customers.length > 0;
        if (isParent || !isAlike) return false;
        this.group = parent.name;
        return true;
      }
    }
  }

  #share({ kind, at, customer }: ActOf<'share' | 'unshare'>): boolean {
    const isThere = this.heirs.customers.includes(customer);
    if (this.group !== null || isThere !== (kind === 'unshare')) return false;
    if (kind === 'share') this.heirs.add(customer);
    else this.heirs.remove(customer, at, this.open?.span ?? null);
    return true;
  }

  #paused(act: ActOf<'pause' | 'pause on' | 'pause at end'>): boolean {
    if (this.isTrial || this.pause !== null) return false;
    if (act.kind === 'pause on' && act.on <= act.at) return false;
    const ends = this.open === null ? this.start : this.running().window.to;
    const start = act.kind === 'pause on' ? act.on : act.kind === 'pause' ? act.at : ends;
    if (this.open === null && start <= this.upcoming().span.from) return false;
    if (start >= this.last().at) return false;
    if (act.until !== null && act.until <= Math.max(start, act.at)) return false;
    const runs = act.kind === 'pause';
    this.pause = { from: start, to: act.until ?? never, bills: act.bills, runs };
    return true;
  }

  #resumed(at: Moment): boolean {
    if (this.pause === null) return false;
    if (this.pause.runs) this.resume(at);
    this.pause = null;
    return true;
  }

  #moveTrial({ at, to }: ActOf<'trial'>): boolean {
    if (!this.isTrial || this.cancel !== null) return false;
    if (to < at || to <= this.start || to >= this.end) return false;
    // The first one begins with the subscription, wherever that lies.
    const later = this.sold.phases.filter(({ from }) => from !== this.start);
    if (later.some(({ from }) => from > at && from < to)) return false;
    const before = this.since;
    if (to === before) return true;
    const startOf = (addon: string) =>
      this.sold.addons.find(({ name }) => name === addon)?.from ?? to;
    if (!this.grants.moveTrial(before, to, startOf)) return false;
    this.since = to;
    this.rhythm = new Rhythm(this.life, to);
    if (this.open !== null) this.open.span = { from: this.start, to };
    this.sold.moveTrial(before, to, () => this.#endOfOnce());
    return true;
  }

  /** The end of the period that runs, or, in a trial, of the first that is charged. */
  #endOfOnce(): Moment {
    const { to } =
      this.isTrial || this.open === null ? this.rhythm.upcoming().span : this.open.span;
    return Math.min(to, this.end);
  }

  #add({ added, ...act }: ActOf<'add'>): boolean {
    const from = Math.max(act.at, this.since);
    this.#sell([{ ...this.piece(added, 'beside'), from }], act);
    return true;
  }

  #sell(pieces: readonly Piece[], { at, prorates }: Pick<ModelAct, 'at' | 'prorates'>): void {
    this.sold.pieces.push(...pieces);
    this.settle(at, this.#charges(pieces, prorates));
  }

  /** The charges of new lines for the rest of the period that runs. */
  #charges(pieces: readonly Piece[], prorates: boolean): string[] {
    return this.open === null ? [] : this.payments.payRest(pieces, this.running(), prorates);
  }

  #addPhase({ at, ...phase }: ActOf<'phase'>): boolean {
    const last = this.sold.phases.at(-1) ?? null;
    const { on } = phase;
    if (on <= at || on > this.end || (last !== null && on <= last.from)) return false;
    if (this.life.trialDays > 0 && this.isTrial && on < this.since) return false;
    this.#turnTo(this.sold.addPhase(phase, this.ofPlan), at);
    return true;
  }

  #dropPhase({ at, place }: ActOf<'drop phase'>): boolean {
    const phase = this.sold.phases[place];
    // The first one begins with the subscription, wherever that lies.
    const isBegun = phase === undefined || phase.from <= at || phase.from === this.start;
    if (isBegun) return false;
    this.#turnTo(this.sold.dropPhase(phase), at);
    // Its coupons count for nothing.
    this.coupons = this.coupons.map((each) =>
      each.of === phase ? { ...each, until: each.from } : each,
    );
    return true;
  }

  /** Settles that lines end, and others begin in their place. */
  #turnTo({ ending, begun }: ReturnType<Sold['dropPhase']>, at: Moment): void {
    const credits = ending.flatMap(({ to, name }) =>
      this.prorates ? this.payments.giveBack(to, name) : [],
    );
    this.settle(at, [...credits, ...this.#charges(begun, this.prorates)]);
  }

  #remove({ at, line, prorates }: ActOf<'remove'>): boolean {
    const piece = this.sold.current(line);
    if (piece === undefined) return false;
    const to = Math.max(at, piece.from);
    // An end that is to come can only be moved to an earlier instant.
    if (piece.to !== never && (piece.to <= at || to >= piece.to)) return false;
    piece.to = to;
    if (prorates) this.settle(at, this.payments.giveBack(piece.to, line));
    return true;
  }

  #attach(act: ActOf<'attach'>): boolean {
    const { at, addon: name, isOnce } = act;
    if (at < this.start) return false;
    const to = isOnce ? this.#endOfOnce() : never;
    this.sold.addons.push({ name, isOnce, from: at, to, isRemoved: false, isOver: false });
    const from = Math.max(at, this.since);
    const pieces = act.lines.map((line) => ({
      ...this.piece(line, 'addon'),
      ...{ addon: name, isOnce, from, to },
    }));
    this.#sell(pieces, act);
    for (const grant of act.grants)
      this.grants.addOfAddon(grant, name, from, this.#left(act, grant));
    return true;
  }

  /** The rest of the period that runs, for credits in the same rhythm that are given for a part of it; null: they are given whole. */
  #left({ at, isOnce, prorates }: ActOf<'attach'>, { unit, count }: ModelGrant) {
    const isAlike = unit === this.rate.unit && count === 1 && this.rate.count === 1;
    if (isOnce || !prorates || !isAlike || this.open === null || this.isTrial) return null;
    const { window } = this.running();
    if (at <= window.from) return null;
    const rest = { from: at, to: window.to };
    return { end: window.to, share: (amount: bigint) => this.time.share(amount, rest, window) };
  }

  #detach({ at, addon: name, isNow, prorates }: ActOf<'detach'>): boolean {
    const addon = this.sold.addons.find((each) => each.name === name);
    if (addon === undefined || addon.to <= at) return false;
    const open = this.open === null ? at : this.running().window.to;
    const to = Math.max(isNow ? at : open, addon.from);
    if (to >= addon.to) return false;
    addon.to = to;
    addon.isRemoved = true;
    const ending = this.sold.pieces.filter((piece) => piece.addon === name && piece.to > to);
    const credits = ending.flatMap((piece) =>
      prorates ? this.payments.giveBack(to, piece.name) : [],
    );
    for (const piece of ending) piece.to = Math.max(to, piece.from);
    this.settle(Math.min(to, at), credits);
    return true;
  }

  #changeQuantity({ at, line, quantity, prorates }: ActOf<'quantity'>): boolean {
    const piece = this.sold.current(line);
    if (piece === undefined || piece.to !== never || piece.kind === 'usage') return false;
    if (piece.quantity === quantity) return true;
    const from = Math.max(at, piece.from);
    // What never begins cannot change.
    if (from >= this.end) return false;
    piece.to = from;
    this.sold.pieces.push({ ...piece, quantity, from, to: never });
    if (piece.kind !== 'advance' || !prorates || this.open === null) return true;
    const { window, whole } = this.running();
    const rest = common({ from, to: never }, window);
    const more = (quantity - piece.quantity) * piece.cents;
    // A line that is free until the next period stays so, where it is to cost less.
    if (rest === null || (more < 0 && !this.payments.isPaid(line, from))) return true;
    const credits = more > 0 ? [] : this.payments.giveBack(from, line);
    const charged = more > 0 ? more : piece.cents * quantity;
    this.settle(at, [...credits, ...this.payments.payPart(piece, charged, rest, whole)]);
    return true;
  }

  #changePlan({ kind, at, plan, prorates }: ActOf<'change' | 'change at end'>): boolean {
    if (kind === 'change') {
      if (this.open === null) return false;
      this.follow(this.#following(plan, prorates, at), at);
      return true;
    }
    const isFree = this.cancel === null && this.planned === null;
    if (this.isTrial || this.open === null || !isFree) return false;
    const end = this.running().window.to;
    // What ends with the period is followed by nothing.
    if (end >= this.end) return false;
    this.planned = { at: end, following: this.#following(plan, prorates, end) };
    return true;
  }

  #following(plan: ModelPlan, prorates: boolean, at: Moment): Following {
    const { pieces, addons } = this.sold;
    const before = { pieces, addons, payments: this.payments, rate: this.rate };
    return followingOf({ ...before, piece: this.ofPlan }, { plan, prorates, at });
  }
}

/** Recomputes a life: what is settled, which periods are closed, and when it ends. */
export const accountOf = (life: ModelLife): Account => new Model(life).run();
