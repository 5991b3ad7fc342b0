import { type Commitment, commitmentOf } from './commitments.ts';
import { type Following, followingOf } from './following.ts';
import {
  type Account,
  type ActOf,
  type Entry,
  type ModelAct,
  type ModelLife,
  type ModelLine,
  type ModelPlan,
  type Moment,
  ofLines,
  type Stretch,
} from './life.ts';
import { common, moved, movedStretch, never, OwnTime, type Pause } from './own-time.ts';
import { arrearsFor, Payments } from './payments.ts';
import type { Addon, Phase, Piece } from './pieces.ts';
import { type Open, Rhythm, type Step, type Turn } from './rhythm.ts';

/**
 * A subscription that is lived through by the rules of the documents, in plain numbers (D31, D32, D63, D65, D67, D68; billing of
 * fixed prices in advance and in arrears, and of usage). It shares nothing with the service.
 */
class Model {
  readonly #life: ModelLife;
  readonly #entries: Entry[] = [];
  readonly #closed: Stretch[] = [];
  readonly #end: Moment;
  #time = new OwnTime();
  #payments = new Payments(this.#time);
  #commitment: Commitment | null;
  #start: Moment;
  #prorates: boolean;
  #isCalendar: boolean;
  #rate: Pick<ModelLife, 'unit' | 'count'>;
  #rhythm: Rhythm;
  /** The end of the trial; without one the start. */
  #since: Moment;
  #isTrial: boolean;
  #pieces: Piece[];
  #addons: Addon[] = [];
  #phases: Phase[] = [];
  #open: Open | null = null;
  #pause: (Pause & { runs: boolean }) | null = null;
  #cancel: { at: Moment; readonly prorates: boolean; readonly isAtEnd: boolean } | null = null;
  #planned: { at: Moment; readonly following: Following } | null = null;
  #ended: Moment | null = null;

  constructor(life: ModelLife) {
    this.#life = life;
    this.#end = life.end ?? never;
    this.#start = life.start;
    this.#since = life.start + life.trialDays * 86_400_000;
    this.#isTrial = life.trialDays > 0;
    this.#prorates = life.prorates;
    this.#isCalendar = life.anchor === 'calendar';
    this.#rate = life;
    this.#rhythm = new Rhythm(life, this.#since);
    this.#commitment = commitmentOf(this.#life, this.#time);
    this.#pieces = life.lines.map((line) => this.#piece(line, 'plan'));
  }

  run(): Account {
    this.#pass(this.#life.ordered);
    const accepted = this.#life.acts.map((act) => {
      this.#pass(act.at);
      return act.kind === 'look' || (this.#ended === null && this.#act(act));
    });
    this.#pass(this.#life.acts.at(-1)?.at ?? 0);
    return { settled: this.#entries, closed: this.#closed, accepted, ended: this.#ended };
  }

  #piece(line: ModelLine, origin: Piece['origin']): Piece {
    return {
      ...line,
      origin,
      addon: null,
      phase: null,
      isOnce: false,
      from: this.#since,
      to: never,
    };
  }

  /** Lets time pass up to an instant. */
  #pass(now: Moment): void {
    while (this.#ended === null) {
      const [first] = this.#steps().sort((one, two) => one.at - two.at || one.rank - two.rank);
      if (first === undefined || first.at > now) return;
      first.take();
    }
  }

  #steps(): Step[] {
    const pause = this.#pause;
    const isPaused = pause?.runs === true;
    const steps: Step[] = [];
    const add = (rank: number, at: Moment, take: () => void) => steps.push({ at, rank, take });
    const last = this.#last(isPaused);
    if (last.at !== never) {
      const isByCancel = this.#cancel !== null && this.#cancel.at <= this.#end;
      const { prorates } = isByCancel && this.#cancel ? this.#cancel : last;
      add(2, last.at, () => this.#finish(last.at, prorates));
    }
    if (isPaused && pause.to !== never) add(0, pause.to, () => this.#resume(pause.to));
    if (pause !== null && !isPaused) {
      add(4, pause.from, () => Object.assign(pause, { runs: true }));
    }
    if (isPaused) return steps;
    if (this.#planned !== null) {
      const { at, following } = this.#planned;
      add(3, at, () => this.#follow(following, at));
    }
    if (this.#open === null) add(5, this.#upcoming().span.from, () => this.#begin());
    else add(1, this.#running().window.to, () => this.#close());
    return steps;
  }

  /** The end, as far as it is known: a cancellation with the period waits for the end of a pause. */
  #last(isHeld = false): { readonly at: Moment; readonly prorates: boolean } {
    const own = { at: this.#end, prorates: this.#prorates };
    const cancel = isHeld && this.#cancel?.isAtEnd ? null : this.#cancel;
    return cancel !== null && cancel.at <= own.at ? cancel : own;
  }

  #upcoming(): Open {
    if (!this.#isTrial) return { ...this.#rhythm.upcoming() };
    return { span: { from: this.#start, to: this.#since }, whole: null };
  }

  /** The period that runs, cut at the end, and the time that its price is for. */
  #running(): { readonly window: Stretch; readonly whole: Stretch } {
    if (this.#open === null) throw new Error('no period runs');
    const { span, whole } = this.#open;
    const window = { from: span.from, to: Math.min(span.to, this.#end) };
    return { window, whole: this.#prorates && whole !== null ? whole : window };
  }

  #begin(): void {
    this.#open = this.#isTrial ? this.#upcoming() : { ...this.#rhythm.take() };
    this.#settle(this.#open.span.from, this.#advance());
  }

  /** The charges in advance for the period that runs. */
  #advance(): string[] {
    return this.#payments.payAll(this.#pieces, this.#running());
  }

  #close(): void {
    const { window } = this.#running();
    const last = this.#last();
    const lines = this.#owed(window.to, last.at === window.to ? window.to : this.#end);
    this.#shut(window.to);
    this.#isTrial = false;
    this.#settle(window.to, lines);
  }

  #shut(at: Moment): void {
    if (this.#open !== null) this.#closed.push({ from: this.#open.span.from, to: at });
    this.#open = null;
  }

  /** Everything owed in arrears up to an instant, of the period that runs; between two of them only what an end breaks off. */
  #owed(at: Moment, end: Moment): string[] {
    const none = { window: { from: at, to: at }, whole: { from: at, to: at } };
    const { window, whole } = this.#open === null ? none : this.#running();
    const billed = { from: window.from, to: at };
    const lines = this.#pieces.flatMap((piece) => {
      const part = common(piece, billed);
      return part === null ? [] : arrearsFor(piece, part, whole, this.#time);
    });
    return [...lines, ...(this.#commitment?.for(billed, whole, this.#since, end) ?? [])];
  }

  #finish(at: Moment, prorates: boolean): void {
    if (this.#pause?.runs) this.#resume(at);
    const lines = this.#owed(at, at);
    this.#shut(at);
    this.#settle(at, [...lines, ...(prorates ? this.#creditsOfAll(at) : [])]);
    this.#ended = at;
  }

  /** The credits of all lines that have not ended: one that has was settled when that was asked for. At the end that the subscription had, all have. */
  #creditsOfAll(at: Moment): string[] {
    if (at >= this.#end) return [];
    const running = this.#pieces.filter(({ to }) => to > at).map(({ name }) => name);
    return [...new Set(running)].flatMap((name) => this.#payments.giveBack(at, name));
  }

  /** The end of a pause: everything that lay ahead is later by its length. */
  #resume(at: Moment): void {
    if (this.#pause === null) throw new Error('nothing is paused');
    const { from, bills } = this.#pause;
    const pause = { from, to: Math.max(at, from), bills };
    this.#pause = null;
    this.#time.add(pause);
    for (const piece of [...this.#pieces, ...this.#addons]) {
      Object.assign(piece, movedStretch(piece, pause));
    }
    for (const phase of this.#phases) phase.from = moved(phase.from, pause);
    this.#payments.move(pause);
    if (pause.to > pause.from) this.#turn(pause);
    if (this.#cancel?.isAtEnd) this.#cancel.at = moved(this.#cancel.at, pause);
    if (this.#planned !== null) this.#planned.at = moved(this.#planned.at, pause);
    // What was paid for the time after the end cannot be used any more.
    if (this.#end !== never && this.#prorates) {
      this.#settle(pause.to, this.#payments.giveBack(this.#end));
    }
  }

  /** The period that ran is longer, and the next ones are counted from its end. */
  #turn(pause: Pause): void {
    const open = this.#open;
    if (open === null) {
      const { from } = this.#upcoming().span;
      this.#rhythm = this.#rhythm.from(from + pause.to - pause.from);
      return;
    }
    open.span = movedStretch(open.span, pause);
    open.whole = open.whole && movedStretch(open.whole, pause);
    this.#rhythm = this.#rhythm.from(open.span.to);
  }

  #settle(at: Moment, lines: readonly string[]): void {
    if (lines.length > 0) this.#entries.push({ at, lines: [...lines].sort() });
  }

  #act(act: ModelAct): boolean {
    if (this.#pause?.runs && ofLines.has(act.kind)) return false;
    switch (act.kind) {
      case 'look':
        return true;
      case 'cancel':
        this.#finish(act.at, act.prorates);
        return true;
      case 'cancel at end':
        if (this.#open === null) return false;
        this.#cancel = { at: this.#running().window.to, prorates: act.prorates, isAtEnd: true };
        return true;
      case 'cancel on':
        if (act.on <= act.at || act.on > this.#end) return false;
        this.#cancel = { at: act.on, prorates: act.prorates, isAtEnd: false };
        return true;
      case 'revert':
        this.#cancel = null;
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
    }
  }

  #paused(act: ActOf<'pause' | 'pause on' | 'pause at end'>): boolean {
    if (this.#isTrial || this.#pause !== null) return false;
    if (act.kind === 'pause on' && act.on <= act.at) return false;
    const ends = this.#open === null ? this.#start : this.#running().window.to;
    const start = act.kind === 'pause on' ? act.on : act.kind === 'pause' ? act.at : ends;
    if (this.#open === null && start <= this.#upcoming().span.from) return false;
    if (start >= this.#last().at) return false;
    if (act.until !== null && act.until <= Math.max(start, act.at)) return false;
    const runs = act.kind === 'pause';
    this.#pause = { from: start, to: act.until ?? never, bills: act.bills, runs };
    return true;
  }

  #resumed(at: Moment): boolean {
    if (this.#pause === null) return false;
    if (this.#pause.runs) this.#resume(at);
    this.#pause = null;
    return true;
  }

  #moveTrial({ at, to }: ActOf<'trial'>): boolean {
    if (!this.#isTrial || this.#cancel !== null) return false;
    if (to < at || to <= this.#start || to >= this.#end) return false;
    if (this.#phases.some(({ from }) => from > at && from < to)) return false;
    const before = this.#since;
    this.#since = to;
    this.#rhythm = new Rhythm(this.#life, to);
    if (this.#open !== null) this.#open.span = { from: this.#start, to };
    for (const addon of this.#addons) {
      if (addon.isOnce && !addon.isRemoved) addon.to = this.#endOfOnce();
    }
    for (const piece of this.#pieces) {
      const isOver = piece.to !== never && piece.to <= piece.from;
      piece.from = piece.from === before ? to : Math.max(piece.from, to);
      const addon = this.#addons.find(({ name }) => name === piece.addon);
      if (addon?.isOnce && !addon.isRemoved) piece.to = addon.to;
      if (isOver) piece.to = piece.from;
      piece.to = Math.max(piece.to, piece.from);
    }
    return true;
  }

  /** The end of the period that runs, or, in a trial, of the first that is charged. */
  #endOfOnce(): Moment {
    const { to } =
      this.#isTrial || this.#open === null ? this.#rhythm.upcoming().span : this.#open.span;
    return Math.min(to, this.#end);
  }

  #add({ added, ...act }: ActOf<'add'>): boolean {
    const from = Math.max(act.at, this.#since);
    this.#sell([{ ...this.#piece(added, 'beside'), from }], act);
    return true;
  }

  #sell(pieces: readonly Piece[], { at, prorates }: Pick<ModelAct, 'at' | 'prorates'>): void {
    this.#pieces.push(...pieces);
    this.#settle(at, this.#charges(pieces, prorates));
  }

  /** The charges of new lines for the rest of the period that runs. */
  #charges(pieces: readonly Piece[], prorates: boolean): string[] {
    return this.#open === null ? [] : this.#payments.payRest(pieces, this.#running(), prorates);
  }

  /** The lines of the last phase, or those of the plan, end where the next one begins. */
  #addPhase({ at, on, lines }: ActOf<'phase'>): boolean {
    const last = this.#phases.at(-1) ?? null;
    if (on <= at || on > this.#end || (last !== null && on <= last.from)) return false;
    if (this.#life.trialDays > 0 && this.#isTrial && on < this.#since) return false;
    const phase = { from: on };
    const ending = this.#pieces.filter(
      (piece) => piece.origin === 'plan' && piece.phase === last && piece.to > on,
    );
    const from = Math.max(on, this.#since);
    const begun = lines.map((line) => ({
      ...this.#piece(line, 'plan'),
      phase,
      from,
      to: this.#end,
    }));
    const credits = ending.flatMap((piece) => {
      piece.to = Math.max(on, piece.from);
      return this.#prorates ? this.#payments.giveBack(piece.to, piece.name) : [];
    });
    this.#phases.push(phase);
    this.#pieces.push(...begun);
    this.#settle(at, [...credits, ...this.#charges(begun, this.#prorates)]);
    return true;
  }

  #remove({ at, line, prorates }: ActOf<'remove'>): boolean {
    const piece = this.#current(line);
    if (piece === undefined) return false;
    const to = Math.max(at, piece.from);
    // An end that is to come can only be moved to an earlier instant.
    if (piece.to !== never && (piece.to <= at || to >= piece.to)) return false;
    piece.to = to;
    if (prorates) this.#settle(at, this.#payments.giveBack(piece.to, line));
    return true;
  }

  #attach(act: ActOf<'attach'>): boolean {
    const { at, addon: name, isOnce } = act;
    if (at < this.#start) return false;
    const to = isOnce ? this.#endOfOnce() : never;
    this.#addons.push({ name, isOnce, from: at, to, isRemoved: false });
    const from = Math.max(at, this.#since);
    const pieces = act.lines.map((line) => ({
      ...this.#piece(line, 'addon'),
      ...{ addon: name, isOnce, from, to },
    }));
    this.#sell(pieces, act);
    return true;
  }

  #detach({ at, addon: name, isNow, prorates }: ActOf<'detach'>): boolean {
    const addon = this.#addons.find((each) => each.name === name);
    if (addon === undefined || addon.to <= at) return false;
    const open = this.#open === null ? at : this.#running().window.to;
    const to = Math.max(isNow ? at : open, addon.from);
    if (to >= addon.to) return false;
    addon.to = to;
    addon.isRemoved = true;
    const ending = this.#pieces.filter((piece) => piece.addon === name && piece.to > to);
    const credits = ending.flatMap((piece) =>
      prorates ? this.#payments.giveBack(to, piece.name) : [],
    );
    for (const piece of ending) piece.to = Math.max(to, piece.from);
    this.#settle(Math.min(to, at), credits);
    return true;
  }

  #current(name: string): Piece | undefined {
    return this.#pieces.findLast((piece) => piece.name === name);
  }

  #changeQuantity({ at, line, quantity, prorates }: ActOf<'quantity'>): boolean {
    const piece = this.#current(line);
    if (piece === undefined || piece.to !== never || piece.kind === 'usage') return false;
    if (piece.quantity === quantity) return true;
    const from = Math.max(at, piece.from);
    // What never begins cannot change.
    if (from >= this.#end) return false;
    piece.to = from;
    this.#pieces.push({ ...piece, quantity, from, to: never });
    if (piece.kind !== 'advance' || !prorates || this.#open === null) return true;
    const { window, whole } = this.#running();
    const rest = common({ from, to: never }, window);
    const more = (quantity - piece.quantity) * piece.cents;
    // A line that is free until the next period stays so, where it is to cost less.
    if (rest === null || (more < 0 && !this.#payments.isPaid(line, from))) return true;
    const credits = more > 0 ? [] : this.#payments.giveBack(from, line);
    const charged = more > 0 ? more : piece.cents * quantity;
    this.#settle(at, [...credits, ...this.#payments.payPart(piece, charged, rest, whole)]);
    return true;
  }

  #changePlan({ kind, at, plan, prorates }: ActOf<'change' | 'change at end'>): boolean {
    if (kind === 'change') {
      if (this.#open === null) return false;
      this.#follow(this.#following(plan, prorates, at), at);
      return true;
    }
    const isFree = this.#cancel === null && this.#planned === null;
    if (this.#isTrial || this.#open === null || !isFree) return false;
    const end = this.#running().window.to;
    // What ends with the period is followed by nothing.
    if (end >= this.#end) return false;
    this.#planned = { at: end, following: this.#following(plan, prorates, end) };
    return true;
  }

  #following(plan: ModelPlan, prorates: boolean, at: Moment): Following {
    const [pieces, addons, payments, rate] = [
      this.#pieces,
      this.#addons,
      this.#payments,
      this.#rate,
    ];
    const piece = (line: ModelLine) => this.#piece(line, 'plan');
    return followingOf({ pieces, addons, payments, rate, piece }, { plan, prorates, at });
  }

  /** The end of the subscription and the beginning of the one that follows, whose first settlement has what is credited. */
  #follow({ plan, prorates, pieces, addons }: Following, at: Moment): void {
    const owed = this.#owed(at, at);
    const { ahead } = this.#life;
    const isCalendar = plan.anchor === 'calendar';
    const isSameRate = plan.unit === this.#rate.unit && plan.count === this.#rate.count;
    const goesOn = !this.#isTrial && isSameRate && isCalendar === this.#isCalendar;
    const rhythm = goesOn
      ? this.#rhythm.continued(this.#rest(at))
      : new Rhythm({ ...plan, ahead }, at);
    this.#shut(at);
    this.#settle(at, owed);
    const lasting = this.#addons.filter(({ to }) => to > at).map(({ name }) => name);
    const kept = addons.filter(({ name }) => lasting.includes(name));
    const isKept = (addon: string | null) => kept.some(({ name }) => name === addon);
    const lost = this.#pieces.filter(({ addon }) => !isKept(addon));
    for (const { name } of lost) this.#payments.giveUp(name);
    const credits = prorates ? this.#creditsOfAll(at) : [];
    this.#time = new OwnTime();
    this.#payments = new Payments(this.#time);
    [this.#pause, this.#cancel, this.#planned] = [null, null, null];
    [this.#isTrial, this.#start, this.#since] = [false, at, at];
    [this.#prorates, this.#isCalendar] = [prorates, isCalendar];
    [this.#rate, this.#rhythm] = [plan, rhythm];
    this.#commitment = commitmentOf(this.#life, this.#time);
    this.#phases = [];
    this.#addons = kept.map((addon) => ({ ...addon, from: Math.max(addon.from, at) }));
    this.#pieces = pieces
      .filter(({ addon }) => addon === null || isKept(addon))
      .map((piece) => ({ ...piece, from: at }));
    this.#open = { ...this.#rhythm.take() };
    this.#settle(at, prorates ? [...credits, ...this.#advance()] : credits);
  }

  /** The rest of the period, for a subscription that knows nothing of the pauses in it. */
  #rest(at: Moment): Turn {
    const { span, whole } = this.#open ?? this.#rhythm.take();
    const length = this.#time.length(whole ?? span);
    return { span: { from: at, to: span.to }, whole: { from: span.to - length, to: span.to } };
  }
}

/** Recomputes a life: what is settled, which periods are closed, and when it ends. */
export const accountOf = (life: ModelLife): Account => new Model(life).run();
