import { copied, type Level } from './books.ts';
import type {
  AlertBody,
  BulkEntryBody,
  Command,
  CreateBody,
  SettingsBody,
  TopUpBody,
} from './commands.ts';
import {
  autoTopUpOf,
  conclude,
  endOrder,
  invoiced,
  isResumed,
  keptAutoTopUp,
  order,
  resumption,
} from './orders.ts';
import { countsFrom, type Past, pastOf, type Recorded } from './past.ts';
import { type Effect, ReferenceLedger } from './reference-ledger.ts';
import { type Load, type Refused, shortage } from './refusals.ts';
import { reverse } from './reversals.ts';
import { doShare, type SharePart } from './shares.ts';
import { creditPlaces, creditsOf, halfEven, ratePlaces, unitsOf } from './units.ts';
import { viewOf, type WalletView } from './wallet-view.ts';

/** The outcome of a command. A refusal leaves no event but that it may be remembered. */
export type Ruling =
  | {
      readonly kind: 'done';
      readonly effects: readonly Effect[];
      readonly results: readonly BulkRuling[];
    }
  | {
      readonly kind: 'refused';
      readonly details: Readonly<Record<string, unknown>> | null;
      readonly isRemembered: boolean;
      /** The consequences of the refusal itself. */
      readonly effects: readonly Effect[];
    };

/** The outcome of an entry of a bulk: the number of its entry, or why there is none. */
export type BulkRuling =
  | { readonly number: number }
  | { readonly details: Readonly<Record<string, unknown>> | null };

/** Ids that the service has given: of the hold that a command made, and of its orders. */
export interface NewIds {
  readonly hold: string;
  readonly orders: readonly string[];
}

const noIds: NewIds = { hold: '', orders: [] };

/** The commands that move credits. */
type Movement = Extract<
  Command,
  {
    kind:
      | 'top-up'
      | 'debit'
      | 'hold'
      | 'change-hold'
      | 'capture'
      | 'void'
      | 'reverse'
      | 'bulk'
      | 'terminate';
  }
>;

type Ending = Extract<Command, { kind: 'complete' | 'cancel' }>;
const isEnding = (command: Command): command is Ending => 'order' in command;

const isTurn = (command: Command): command is Extract<Command, { kind: 'freeze' | 'unfreeze' }> =>
  command.kind === 'freeze' || command.kind === 'unfreeze';

const instant = (text: string | undefined): number | null =>
  text === undefined ? null : Date.parse(text);

/**
 * The rules of a wallet in plain whole numbers (D21 to D30). It shares no code with the
 * service, and foresees every event of every command and every refusal with its details.
 */
export class Oracle {
  /** Number of each entry by its id: the oracle cannot know the ids of the service. */
  numbers: ReadonlyMap<string, number> = new Map();
  readonly #ledger: ReferenceLedger;
  readonly #told: Recorded[] = [];

  /** A wallet before its creation: `run` the same command first. */
  constructor(body: CreateBody) {
    const rate = body.conversion_rate ?? '1';
    const topUpRate = body.topup_conversion_rate ?? rate;
    this.#ledger = new ReferenceLedger({
      mayOwe: body.wallet_type === 'POST_PAID',
      rate,
      topUpRate,
    });
  }

  /** Does a command at a time, with the ids that it was given. A refusal changes nothing. */
  run(command: Command, at: number, { hold: newHold, orders }: NewIds = noIds): Ruling {
    const results: BulkRuling[] = [];
    this.#ledger.orderIds = [...orders];
    this.#ledger.effects = [];
    this.#ledger.now = at;
    const refused = this.#ledger.attempt(() => this.#do(command, at, newHold, results));
    if (!refused) return { kind: 'done', effects: this.#keep(at), results };
    const { details, isRemembered } = refused;
    if (details?.reason === shortage) {
      this.#ledger.due(at);
      conclude(this.#ledger, at, 'refused_debit');
    }
    this.#keep(at);
    return { kind: 'refused', details, isRemembered, effects: this.#ledger.effects };
  }

  /** Does the part of a debit of the customer, at a time. */
  share(part: SharePart, at: number, { hold, orders }: NewIds): readonly Effect[] {
    this.#ledger.orderIds = [...orders];
    this.#ledger.effects = [];
    this.#ledger.now = at;
    doShare(this.#ledger, part, at, hold);
    return this.#keep(at);
  }

  /** Returns what a command would lead to. */
  foresee(command: Command, at: number): Ruling {
    const { books } = this.#ledger;
    const told = this.#told.length;
    this.#ledger.books = copied(books);
    const ruling = this.run(command, at);
    this.#ledger.books = books;
    this.#told.length = told;
    return ruling;
  }

  /** Returns what the wallet held at a time, as far as it was recorded by another. */
  pastAt(asOf: number, knownAt: number): Past {
    return pastOf(this.#told, asOf, knownAt);
  }

  /** Returns the times from which anything counts or at which anything was recorded, in order. */
  moments(): number[] {
    const all = this.#told.flatMap((each) => [each.at, countsFrom(each)]);
    return [...new Set(all)].sort((a, b) => a - b);
  }

  /** Keeps the effects of a command, or of what fell due, and gives them. */
  #keep(at: number): readonly Effect[] {
    const { effects } = this.#ledger;
    this.#told.push(...effects.map((effect) => ({ at, effect })));
    return effects;
  }

  /** Ends what is due, as the service does by itself. */
  settle(at: number, ids: NewIds = noIds): readonly Effect[] {
    return this.#end(at, ids, isResumed(this.#ledger, at) ? 'new_day' : null);
  }

  /** Ends what is due, and judges what is left once everything is paid; here nothing is owed. */
  look(at: number, ids: NewIds): readonly Effect[] {
    return this.#end(at, ids, 'ongoing');
  }

  #end(at: number, { orders }: NewIds, cause: 'new_day' | 'ongoing' | null): readonly Effect[] {
    this.#ledger.effects = [];
    this.#ledger.orderIds = [...orders];
    this.#ledger.now = at;
    this.#ledger.due(at);
    conclude(this.#ledger, at, cause);
    return this.#keep(at);
  }

  /** Returns the times between two at which something ends by itself. */
  endings(after: number, upTo: number): number[] {
    const { lots, holds, orders } = this.#ledger.books;
    // What is held may come back and expire at once, all within one decision.
    const held = holds.flatMap(({ parts }) => parts);
    return [...lots, ...held, ...holds, ...orders]
      .flatMap(({ expires }) => expires ?? [])
      .filter((time) => time > after && time <= upTo);
  }

  /** The first time before another at which something should have ended or gone on by itself; null for none. */
  overdue(before: number): number | null {
    const { books } = this.#ledger;
    if (books.status === 'closed') return null;
    const { lots, holds, orders } = books;
    const ends = [...lots, ...holds, ...orders].flatMap(({ expires }) => expires ?? []);
    const times = [...ends, ...[resumption(books)].flatMap((time) => time ?? [])];
    const first = Math.min(...times);
    return first < before ? first : null;
  }

  /** The wallet at a later time, when nothing but what is due happens until then. */
  viewAt(time: number): WalletView {
    const { books } = this.#ledger;
    this.#ledger.books = copied(books);
    this.#ledger.due(time);
    const view = this.view();
    this.#ledger.books = books;
    return view;
  }

  view(): WalletView {
    return viewOf(this.#ledger.books, this.#ledger.rate);
  }

  #do(command: Command, at: number, newHold: string, results: BulkRuling[]): void {
    const ledger = this.#ledger;
    if (command.kind === 'create') {
      this.#create(command.body, at);
      return;
    }
    if (isEnding(command)) {
      endOrder(ledger, command.order, command.kind === 'complete' ? 'completed' : 'failed', at);
      return;
    }
    ledger.assertOpen();
    if (isTurn(command)) {
      this.#turn(command.kind === 'freeze' ? 'frozen' : 'active', at);
      return;
    }
    if (command.kind === 'settings') {
      this.#change(command.body, at);
      return;
    }

    const isTaking = ['debit', 'hold', 'capture'].includes(command.kind);
    if (isTaking) ledger.assertNotFrozen();
    ledger.due(at);
    this.#move(command, at, newHold, results);
    if (command.kind !== 'terminate') {
      conclude(ledger, at);
      return;
    }
    ledger.judge();
    ledger.books.status = 'closed';
    ledger.tell({ type: 'WalletClosed' });
  }

  #move(command: Movement, at: number, newHold: string, results: BulkRuling[]): void {
    const ledger = this.#ledger;
    switch (command.kind) {
      case 'top-up':
        for (const load of this.#loadsOf(command.body)) {
          if (load.reason === invoiced) order(ledger, load, at);
          else ledger.load(load, at);
        }
        return;
      case 'debit': {
        const { credits, transaction_reason: reason = 'MANUAL_BALANCE_DEBIT' } = command.body;
        const { allow_partial, effective_at } = command.body;
        ledger.debit(creditsOf(credits), reason, instant(effective_at), allow_partial);
        return;
      }
      case 'hold':
        ledger.hold(newHold, creditsOf(command.body.credits), instant(command.body.expires_at));
        return;
      case 'capture':
        ledger.capture(ledger.openHold(command.hold), command.body.credits, command.body.final);
        ledger.due(at, at);
        return;
      case 'change-hold': {
        const { credits, expires_at } = command.body;
        const asked = credits === undefined ? null : creditsOf(credits);
        ledger.change(ledger.openHold(command.hold), asked, instant(expires_at));
        ledger.due(at, at);
        return;
      }
      case 'void':
        ledger.release(ledger.openHold(command.hold), 'voided', at);
        ledger.due(at, at);
        return;
      case 'reverse': {
        const { credits, expiry_date_utc } = command.body;
        const entry = this.numbers.get(command.entry) ?? 0;
        const asked = credits === undefined ? null : creditsOf(credits);
        reverse(ledger, { entry, credits: asked, expires: instant(expiry_date_utc) }, at);
        return;
      }
      case 'bulk':
        for (const entry of command.body.entries) {
          this.#oneOfMany(entry, command.body.atomic ?? true, at, results);
        }
        ledger.tell({ type: 'BulkRecorded', results: [...results] });
        return;
      case 'terminate':
        ledger.takeRest(at);
        return;
      default:
        command satisfies never;
    }
  }

  #create(body: CreateBody, at: number): void {
    const ledger = this.#ledger;
    ledger.tell({ type: 'WalletCreated' });
    ledger.books.created = at;
    const { alert_settings = null, auto_topup = null, priority = null } = body;
    ledger.books.settings = keptSettings({ alert_settings, auto_topup, priority });
    ledger.books.levels = levelsOf(alert_settings);
    ledger.books.autoTopUp = autoTopUpOf(auto_topup);
    const credits = creditsOf(body.initial_credits_to_load ?? '0');
    const expires = instant(body.initial_credits_expiry_date_utc);
    const load = { reason: 'FREE_CREDIT_GRANT', credits, amount: null, priority: null, expires };
    if (credits > 0n) ledger.load(load, at);
    conclude(ledger, at, 'settings');
  }

  #turn(status: 'frozen' | 'active', at: number): void {
    const ledger = this.#ledger;
    if (ledger.books.status === status) return;
    ledger.due(at);
    ledger.books.status = status;
    ledger.tell({ type: status === 'frozen' ? 'WalletFrozen' : 'WalletUnfrozen' });
    conclude(ledger, at, status === 'active' ? 'unfreezing' : null);
  }

  #change(body: SettingsBody, at: number): void {
    const ledger = this.#ledger;
    const { books } = ledger;
    const given = Object.entries(keptSettings(body));
    const changed = given.filter(([name, text]) => books.settings[name] !== text);
    if (changed.length === 0) return;
    ledger.due(at);
    books.settings = { ...books.settings, ...Object.fromEntries(changed) };
    books.levels = levelsOf(JSON.parse(books.settings.alert_settings ?? 'null'));
    books.autoTopUp = autoTopUpOf(JSON.parse(books.settings.auto_topup ?? 'null'));
    ledger.tell({ type: 'WalletSettingsChanged' });
    conclude(ledger, at, changed.some(([name]) => name === 'auto_topup') ? 'settings' : null);
  }

  /**
   * Returns what a top-up loads: by credits, else by an amount at the top-up rate, and its bonus.
   */
  #loadsOf(body: TopUpBody): Load[] {
    const { credits_to_add, amount: paid = '0', priority = null, transaction_reason } = body;
    const amount = credits_to_add === undefined ? unitsOf(paid, creditPlaces) : null;
    const scaled = (amount ?? 0n) * 10n ** BigInt(ratePlaces);
    const bought: Load = {
      reason: transaction_reason,
      credits:
        credits_to_add === undefined
          ? halfEven(scaled, this.#ledger.topUpRate)
          : creditsOf(credits_to_add),
      amount,
      priority,
      expires: instant(body.expiry_date_utc),
      from: instant(body.effective_at),
    };
    if (body.bonus_credits_to_add === undefined) return [bought];
    const bonus = creditsOf(body.bonus_credits_to_add);
    const expires = instant(body.bonus_credits_expiry_date_utc);
    const reason = 'FREE_CREDIT_GRANT';
    return [bought, { ...bought, reason, credits: bonus, amount: null, expires }];
  }

  #oneOfMany(entry: BulkEntryBody, isAtomic: boolean, at: number, results: BulkRuling[]): void {
    const ledger = this.#ledger;
    const refused = ledger.attempt(() => moveOne(ledger, entry, at));
    if (!refused) results.push({ number: ledger.books.entries });
    else if (isAtomic) throw atIndex(refused, results.length);
    else results.push({ details: refused.details });
  }
}

function moveOne(ledger: ReferenceLedger, entry: BulkEntryBody, at: number): void {
  const credits = creditsOf(entry.credits);
  if (entry.type === 'debit') {
    ledger.assertNotFrozen();
    const { effective_at, allow_partial } = entry;
    ledger.debit(credits, 'MANUAL_BALANCE_DEBIT', instant(effective_at), allow_partial);
    return;
  }
  const { transaction_reason: reason = 'FREE_CREDIT_GRANT', priority = null } = entry;
  const expires = instant(entry.expiry_date_utc);
  const from = instant(entry.effective_at);
  ledger.load({ reason, credits, amount: null, priority, expires, from }, at);
}

/** One entry of an atomic bulk refuses all of it, and is named. */
const atIndex = (refused: Refused, index: number): Refused =>
  refused.with({ index, ...refused.details });

/** Settings as texts that can be compared: equal ones are written in one way. */
function keptSettings(body: SettingsBody): Readonly<Record<string, string>> {
  const { auto_topup: given } = body;
  const kept = given === undefined ? body : { ...body, auto_topup: keptAutoTopUp(given) };
  return Object.fromEntries(
    Object.entries(kept).map(([name, value]) => [name, canonical(value)] as const),
  );
}

/** A value as JSON with the members of objects in their order. */
function canonical(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`)}}`;
}

/** Alert levels that count, the most severe first. */
function levelsOf(settings: AlertBody | null): Level[] {
  if (settings === null || settings.alert_enabled === false) return [];
  const { critical, warning, info } = settings;
  const all = [
    { state: 'in_alarm', level: critical },
    { state: 'warning', level: warning },
    { state: 'info', level: info },
  ];
  return all.flatMap(({ state, level }) =>
    level ? [{ state, threshold: level.threshold, isBelow: level.condition !== 'above' }] : [],
  );
}
