import { type Commitment, commitmentOf } from './commitments.ts';
import type { Following } from './following.ts';
import { Grants } from './grants.ts';
import { Heirs } from './heirs.ts';
import {
  type Account,
  couponText,
  type Entry,
  type ModelAct,
  type ModelCoupon,
  type ModelLife,
  type ModelLine,
  type Moment,
  ofUnpaid,
  type Stretch,
} from './life.ts';
import { common, moved, movedStretch, never, OwnTime, type Pause } from './own-time.ts';
import { arrearsFor, Payments } from './payments.ts';
import type { Addon, Phase, Piece } from './pieces.ts';
import { type Open, Rhythm, type Step, type Turn } from './rhythm.ts';
import { Sold } from './sold.ts';

/** A coupon that the subscription has, from an instant on, with its phase where it is for one that was agreed on at first. */
type HeldCoupon = ModelCoupon & { readonly from: Moment; readonly of: Phase | null };

/** A coupon of the whole goes on under another plan; those of lines and phases end with them. */
const isLasting = ({ line, phase, until }: HeldCoupon, at: Moment): boolean =>
  line === null && phase === null && (until === null || until > at);

/**
 * A subscription through which time passes, by the rules of the documents, in plain numbers: its steps, and what each of them settles. What a
 * caller does to it is beside, in `model.ts`.
 */
export abstract class Living {
  protected readonly life: ModelLife;
  protected readonly entries: Entry[] = [];
  protected readonly closed: Stretch[] = [];
  protected readonly end: Moment;
  protected time = new OwnTime();
  protected payments = new Payments(this.time);
  protected commitment: Commitment | null;
  protected start: Moment;
  protected prorates: boolean;
  protected isCalendar: boolean;
  protected rate: Pick<ModelLife, 'unit' | 'count'>;
  protected rhythm: Rhythm;
  /** The end of the trial; without one the start. */
  protected since: Moment;
  protected isTrial: boolean;
  protected sold: Sold;
  protected readonly credits: string[] = [];
  protected grants: Grants;
  protected coupons: readonly HeldCoupon[];
  protected readonly heirs = new Heirs();
  protected group: string | null = null;
  protected open: Open | null = null;
  protected pause: (Pause & { runs: boolean }) | null = null;
  protected cancel: { at: Moment; readonly prorates: boolean; readonly isAtEnd: boolean } | null =
    null;
  protected planned: { at: Moment; readonly following: Following } | null = null;
  protected ended: Moment | null = null;
  /** True until its first invoice is paid, where it was sold under that condition; and whether there is that invoice. */
  protected waits: boolean;
  protected hasOpening = false;

  /** Does what a caller asks for; false where that is refused. */
  protected abstract act(act: ModelAct): boolean;

  constructor(life: ModelLife) {
    this.life = life;
    this.end = life.end ?? never;
    this.start = life.start;
    this.since = life.start + life.trialDays * 86_400_000;
    this.isTrial = life.trialDays > 0;
    this.waits = life.waits;
    this.prorates = life.prorates;
    this.isCalendar = life.anchor === 'calendar';
    this.rate = life;
    this.rhythm = new Rhythm(life, this.since);
    this.commitment = commitmentOf(this.life, this.time);
    this.sold = new Sold(this.end, life.lines.map(this.ofPlan));
    this.sold.begin(this.start, life.phases, this.ofPlan);
    this.grants = new Grants(life.ahead, this.credits);
    this.grants.addOfPlan(life.grants, this.since);
    for (const grant of life.ownGrants) {
      this.grants.addOwn(grant, this.since, this.start, this.since);
    }
    const startOf = (phase: number | null) => life.phases[(phase ?? 0) - 1]?.on ?? this.start;
    this.coupons = life.coupons.map((coupon) => ({
      ...coupon,
      from: coupon.from ?? startOf(coupon.phase),
      of: coupon.phase === null ? null : (this.sold.phases[coupon.phase] ?? null),
    }));
    for (const customer of life.heirs) this.heirs.add(customer);
  }

  run(): Account {
    this.pass(this.life.ordered);
    const accepted = this.life.acts.map((act) => {
      this.pass(act.at);
      // What has ended can be ended again.
      const isRepeated =
        act.kind === 'end grant' && this.grants.isEnded(act.grant, Math.max(act.on ?? 0, act.at));
      const isHeard = act.kind === 'look' || (isRepeated && !this.isUnpaid);
      if (isHeard) return true;
      // What becomes of an invoice is nobody's wish, and changes nothing but one that waits for it.
      if (act.kind === 'pay' || act.kind === 'expire') return this.hearOfOpening(act);
      if (this.isUnpaid && !ofUnpaid.has(act.kind)) return false;
      return this.ended === null && this.act(act);
    });
    this.pass(this.life.acts.at(-1)?.at ?? 0);
    return {
      settled: this.entries,
      closed: this.closed,
      credits: this.credits.sort(),
      coupons: this.coupons.map((coupon) => couponText(coupon, coupon.from, coupon.until)),
      heirs: this.heirs.texts(this.shownToHeirs()),
      family: `${this.group ?? 'alone'}, paid by ${this.life.payer ?? 'itself'}`,
      accepted,
      ended: this.ended,
    };
  }

  /** True while it waits for its first payment: then time does nothing to it but open its first period, and end it. */
  protected get isUnpaid(): boolean {
    return this.waits && !this.isTrial && this.ended === null;
  }

  protected hearOfOpening({
    kind,
    at,
  }: {
    readonly kind: 'pay' | 'expire';
    readonly at: Moment;
  }): boolean {
    if (!this.isUnpaid || !this.hasOpening) return true;
    if (kind === 'pay') this.waits = false;
    else this.finish(at, false);
    return true;
  }

  /** A first period that charges nothing is paid for with it. */
  protected opened(lines: readonly string[]): void {
    if (!this.isUnpaid) return;
    this.hasOpening = lines.some((line) => line.startsWith('charge ') && !line.endsWith(' 0.00'));
    this.waits = this.hasOpening;
  }

  protected shownToHeirs() {
    const running = this.isTrial ? 'trialing' : this.isUnpaid ? 'incomplete' : 'active';
    const status = this.pause?.runs ? 'paused' : running;
    return { status, open: this.open === null ? null : this.running().window };
  }

  protected readonly ofPlan = (line: ModelLine): Piece => this.piece(line, 'plan');

  protected piece(line: ModelLine, origin: Piece['origin']): Piece {
    return {
      ...line,
      origin,
      addon: null,
      phase: null,
      isOnce: false,
      from: this.since,
      to: never,
    };
  }

  /** Lets time pass up to an instant. */
  protected pass(now: Moment): void {
    while (this.ended === null) {
      const [first] = this.steps().sort((one, two) => one.at - two.at || one.rank - two.rank);
      if (first === undefined || first.at > now) return;
      first.take();
    }
  }

  protected steps(): Step[] {
    const pause = this.pause;
    const isPaused = pause?.runs === true;
    const steps: Step[] = [];
    const add = (rank: number, at: Moment, take: () => void) => steps.push({ at, rank, take });
    const last = this.last(isPaused);
    if (last.at !== never) {
      const isByCancel = this.cancel !== null && this.cancel.at <= this.end;
      const { prorates } = isByCancel && this.cancel ? this.cancel : last;
      add(2, last.at, () => this.finish(last.at, prorates));
    }
    if (this.isUnpaid) {
      if (this.hasOpening) return steps;
      if (this.open === null) add(5, this.upcoming().span.from, () => this.begin());
      else add(1, this.running().window.to, () => this.close());
      return steps;
    }
    if (isPaused && pause.to !== never) add(0, pause.to, () => this.resume(pause.to));
    for (const { at, take } of this.grants.steps()) add(6, at, () => take(this.grantingAt(at)));
    if (pause !== null && !isPaused) {
      add(4, pause.from, () => Object.assign(pause, { runs: true }));
    }
    if (isPaused) return steps;
    if (this.planned !== null) {
      const { at, following } = this.planned;
      add(3, at, () => this.follow(following, at));
    }
    for (const addon of this.sold.addons) {
      if (addon.to !== never && !addon.isOver) add(3.5, addon.to, () => this.endAddon(addon));
    }
    if (this.open === null) add(5, this.upcoming().span.from, () => this.begin());
    else add(1, this.running().window.to, () => this.close());
    return steps;
  }

  /** The circumstances of a grant that gives at an instant. */
  protected grantingAt(at: Moment) {
    const isPaused = (this.pause?.runs && this.pause.from <= at) || this.time.isPaused(at);
    const between = this.closed.at(-1)?.to ?? this.start;
    const period = this.open === null ? { from: between, to: between } : this.running().window;
    return { isPaused, period };
  }

  protected endAddon(addon: Addon): void {
    addon.isOver = true;
    this.grants.lose(addon.name);
  }

  /** The end, as far as it is known: a cancellation with the period waits for the end of a pause. */
  protected last(isHeld = false): { readonly at: Moment; readonly prorates: boolean } {
    const own = { at: this.end, prorates: this.prorates };
    const cancel = isHeld && this.cancel?.isAtEnd ? null : this.cancel;
    return cancel !== null && cancel.at <= own.at ? cancel : own;
  }

  protected upcoming(): Open {
    if (!this.isTrial) return { ...this.rhythm.upcoming() };
    return { span: { from: this.start, to: this.since }, whole: null };
  }

  /** The period that runs, cut at the end, and the time that its price is for. */
  protected running(): { readonly window: Stretch; readonly whole: Stretch } {
    if (this.open === null) throw new Error('no period runs');
    const { span, whole } = this.open;
    const window = { from: span.from, to: Math.min(span.to, this.end) };
    return { window, whole: this.prorates && whole !== null ? whole : window };
  }

  protected begin(): void {
    this.open = this.isTrial ? this.upcoming() : { ...this.rhythm.take() };
    const lines = this.advance();
    this.settle(this.open.span.from, lines);
    this.opened(lines);
  }

  /** The charges in advance for the period that runs. */
  protected advance(): string[] {
    return this.payments.payAll(this.sold.pieces, this.running());
  }

  protected close(): void {
    const { window } = this.running();
    const last = this.last();
    const lines = this.owed(window.to, last.at === window.to ? window.to : this.end);
    this.shut(window.to);
    this.isTrial = false;
    this.settle(window.to, lines);
  }

  protected shut(at: Moment): void {
    if (this.open !== null) {
      const period = { from: this.open.span.from, to: at };
      this.closed.push(period);
      this.heirs.close(period);
    }
    this.open = null;
  }

  /** Everything owed in arrears up to an instant, of the period that runs; between two of them only what an end breaks off. */
  protected owed(at: Moment, end: Moment): string[] {
    const none = { window: { from: at, to: at }, whole: { from: at, to: at } };
    const { window, whole } = this.open === null ? none : this.running();
    const billed = { from: window.from, to: at };
    const lines = this.sold.pieces.flatMap((piece) => {
      const part = common(piece, billed);
      return part === null ? [] : arrearsFor(piece, part, whole, this.time);
    });
    return [...lines, ...(this.commitment?.for(billed, whole, this.since, end) ?? [])];
  }

  protected finish(at: Moment, prorates: boolean): void {
    if (this.pause?.runs) this.resume(at);
    // What was never paid for is neither billed nor given back.
    const lines = this.isUnpaid
      ? []
      : [...this.owed(at, at), ...(prorates ? this.creditsOfAll(at) : [])];
    this.shut(at);
    this.settle(at, lines);
    this.grants.lose();
    this.heirs.end(at);
    this.ended = at;
  }

  /** The credits of all lines that have not ended: one that has was settled when that was asked for. At the end that the subscription had, all have. */
  protected creditsOfAll(at: Moment): string[] {
    if (at >= this.end) return [];
    const running = this.sold.pieces.filter(({ to }) => to > at).map(({ name }) => name);
    return [...new Set(running)].flatMap((name) => this.payments.giveBack(at, name));
  }

  /** The end of a pause: everything that lay ahead is later by its length. */
  protected resume(at: Moment): void {
    if (this.pause === null) throw new Error('nothing is paused');
    const { from, bills } = this.pause;
    const pause = { from, to: Math.max(at, from), bills };
    this.pause = null;
    this.time.add(pause);
    this.sold.move(pause);
    this.payments.move(pause);
    if (pause.to > pause.from) this.turn(pause);
    if (this.cancel?.isAtEnd) this.cancel.at = moved(this.cancel.at, pause);
    if (this.planned !== null) this.planned.at = moved(this.planned.at, pause);
    // What was paid for the time after the end cannot be used any more.
    if (this.end !== never && this.prorates) {
      this.settle(pause.to, this.payments.giveBack(this.end));
    }
  }

  /** The period that ran is longer, and the next ones are counted from its end. */
  protected turn(pause: Pause): void {
    const open = this.open;
    if (open === null) {
      const { from } = this.upcoming().span;
      this.rhythm = this.rhythm.from(from + pause.to - pause.from);
      return;
    }
    open.span = movedStretch(open.span, pause);
    open.whole = open.whole && movedStretch(open.whole, pause);
    this.rhythm = this.rhythm.from(open.span.to);
  }

  protected settle(at: Moment, lines: readonly string[]): void {
    if (lines.length > 0) this.entries.push({ at, lines: [...lines].sort() });
  }

  /** The end of the subscription and the beginning of the one that follows, whose first settlement has what is credited. */
  protected follow({ plan, prorates, pieces, addons }: Following, at: Moment): void {
    const owed = this.owed(at, at);
    const { ahead } = this.life;
    const isCalendar = plan.anchor === 'calendar';
    const isSameRate = plan.unit === this.rate.unit && plan.count === this.rate.count;
    const goesOn = !this.isTrial && isSameRate && isCalendar === this.isCalendar;
    const rhythm = goesOn
      ? this.rhythm.continued(this.rest(at))
      : new Rhythm({ ...plan, ahead }, at);
    this.shut(at);
    this.settle(at, owed);
    const lasting = this.sold.addons.filter(({ to }) => to > at).map(({ name }) => name);
    const kept = addons.filter(({ name }) => lasting.includes(name));
    const isKept = (addon: string | null) => kept.some(({ name }) => name === addon);
    const lost = this.sold.pieces.filter(({ addon }) => !isKept(addon));
    for (const { name } of lost) this.payments.giveUp(name);
    const credits = prorates ? this.creditsOfAll(at) : [];
    const grants = this.grants.follow(isKept, at, this.isTrial);
    this.grants.lose();
    this.heirs.follow(at);
    this.time = new OwnTime();
    this.payments = new Payments(this.time);
    [this.pause, this.cancel, this.planned] = [null, null, null];
    [this.isTrial, this.start, this.since] = [false, at, at];
    [this.prorates, this.isCalendar] = [prorates, isCalendar];
    [this.rate, this.rhythm] = [plan, rhythm];
    this.commitment = commitmentOf(this.life, this.time);
    this.grants = grants;
    this.grants.addOfPlan(plan.grants, at);
    this.coupons = this.coupons.filter((each) => isLasting(each, at));
    this.sold = new Sold(
      this.end,
      pieces
        .filter(({ addon }) => addon === null || isKept(addon))
        .map((piece) => ({ ...piece, from: at })),
      kept.map((addon) => ({ ...addon, from: Math.max(addon.from, at) })),
    );
    this.open = { ...this.rhythm.take() };
    const lines = prorates ? [...credits, ...this.advance()] : credits;
    this.settle(at, lines);
    this.opened(lines);
  }

  /** The rest of the period, for a subscription that knows nothing of the pauses in it. */
  protected rest(at: Moment): Turn {
    const { span, whole } = this.open ?? this.rhythm.take();
    const length = this.time.length(whole ?? span);
    return { span: { from: at, to: span.to }, whole: { from: span.to - length, to: span.to } };
  }
}
