import * as assert from 'uvu/assert';
import { checkAnswer, checkReplay, isConflictOf, type Judged } from './answers.ts';
import { type AnyCommand, type Command, targetOf } from './commands.ts';
import { effectOf, entryNumbers } from './effects.ts';
import type { AnyExchange, CustomerExchange, Exchange } from './exchange.ts';
import {
  explainedGroups,
  type Group,
  type History,
  isIdle,
  isOfLook,
  newIdsIn,
  ongoingTypes,
} from './history.ts';
import { Oracle } from './oracle.ts';
import type { SharePart } from './shares.ts';

type Numbers = ReadonlyMap<string, number>;

/** Other knowledge of a ledger. */
export interface Circumstances {
  /** True where a test clock moved, so that nothing can have happened later than it was due. */
  readonly isPunctual?: boolean;
  /** The parts in debits of the customer, by the revision of their first event. */
  readonly shares?: ReadonlyMap<number, SharePart>;
  /** The debits of the customer that it has parts in. */
  readonly debits?: readonly CustomerExchange[];
}

/** A request without an event in the log, and between which states it can have been answered. */
interface Silent {
  readonly exchange: Exchange;
  /** Number of groups that were certainly written before it was sent. */
  readonly from: number;
  /** Number of groups that can have been written before it was answered. */
  readonly upTo: number;
  isExplained: boolean;
}

/**
 * Explains a ledger: its events, in the order of their revisions, must be exactly what the oracle
 * foresees for the requests that caused them; every answer must be what the state at that place
 * gives; and what left no event (refusals, repetitions, requests without a key that change nothing)
 * must be explained by some state between the sending and the answer. On a test clock due work is punctual:
 * nothing happens while something earlier is due. What a debit of the customer did is foreseen, too: `shares` says
 * which part of it. Throws an assertion otherwise.
 *
 * @returns the oracle as the last event has left it
 */
export function linearise(
  history: History,
  exchanges: readonly Exchange[],
  { isPunctual = false, shares = new Map(), debits = [] }: Circumstances = {},
): Oracle {
  const numbers = entryNumbers(history);
  // A wallet that a debit of the customer asked, and that had nothing, is a part of that.
  const groups = explainedGroups(history).filter(
    ({ events }) => shares.has(events[0]?.revision ?? -1) || !events.every(isIdle),
  );
  const byRequest = new Map(exchanges.map((exchange) => [exchange.requestId, exchange]));
  const first = byRequest.get(groups[0]?.correlation ?? '');
  assert.ok(first?.command.kind === 'create', 'a history begins with the creation of its wallet');
  const oracle = new Oracle(first.command.body);
  oracle.numbers = numbers;
  const firsts = firstOfKeys(groups, byRequest);
  const silent = silentOnes(groups, exchanges, debits);
  let lastAt = 0;
  for (const [index, group] of groups.entries()) {
    explainSilent({ oracle, silent, firsts, numbers, state: index, lastAt });
    lastAt = group.at;
    if (isPunctual) assertNothingOverdue(oracle, group.at);
    const part = shares.get(group.events[0]?.revision ?? -1);
    if (part) {
      explainShare(oracle, group, part, numbers);
      continue;
    }
    const exchange = byRequest.get(group.correlation);
    const ruling = explainGroup(oracle, group, exchange, numbers);
    const first = exchange && firsts.get(keyOf(exchange));
    if (first?.index === index) first.ruling = ruling;
  }
  explainSilent({ oracle, silent, firsts, numbers, state: groups.length, lastAt });
  const end = Math.max(lastAt, ...exchanges.map(({ answeredAt }) => answeredAt));
  if (isPunctual) assertNothingOverdue(oracle, end + 1);
  for (const { exchange, isExplained } of silent) {
    const { command, answer } = exchange;
    assert.ok(isExplained, `no state explains ${JSON.stringify({ command, answer })}`);
  }
  return oracle;
}

function assertNothingOverdue(oracle: Oracle, before: number): void {
  const first = oracle.overdue(before);
  const [due, then] = [first ?? before, before].map((time) => new Date(time).toISOString());
  assert.is(first, null, `what was due at ${due} had not happened before ${then}`);
}

/** The first effect of an idempotency key, with its answer once that place is reached. */
interface First {
  readonly exchange: Exchange;
  readonly index: number;
  ruling: Pick<Judged, 'ruling' | 'view'> | null;
}

const keyOf = ({ command, key }: Exchange): string => `${command.kind} ${targetOf(command)} ${key}`;

function firstOfKeys(
  groups: readonly Group[],
  byRequest: ReadonlyMap<string, Exchange>,
): ReadonlyMap<string, First> {
  const firsts = new Map<string, First>();
  for (const [index, { correlation }] of groups.entries()) {
    const exchange = byRequest.get(correlation);
    if (exchange?.key === null || exchange === undefined) continue;
    const key = keyOf(exchange);
    assert.not.ok(firsts.has(key), `the key of ${key} had its effect twice`);
    firsts.set(key, { exchange, index, ruling: null });
  }
  return firsts;
}

function silentOnes(
  groups: readonly Group[],
  exchanges: readonly Exchange[],
  debits: readonly CustomerExchange[],
): Silent[] {
  const places = groups.map(({ correlation }, index) => [correlation, index] as const);
  const [firsts, lasts] = [new Map(places.toReversed()), new Map(places)];
  const heard: readonly AnyExchange[] = [
    ...exchanges,
    ...debits.filter(({ answer }) => (answer?.status ?? 500) < 500),
  ];
  const spoken = heard.flatMap((exchange) => {
    const [first, last] = [firsts.get(exchange.requestId), lasts.get(exchange.requestId)];
    return first === undefined || last === undefined ? [] : [{ ...exchange, first, last }];
  });
  return exchanges.flatMap((exchange): Silent[] => {
    if (firsts.has(exchange.requestId) || exchange.answer === null || exchange.answer.status >= 500)
      return [];
    const before = spoken.filter(({ answered, answer }) => answer && answered < exchange.sent);
    const after = spoken.filter(({ sent }) => sent > exchange.answered);
    const from = before.reduce((most, { last }) => Math.max(most, last + 1), 0);
    const later = groups.findIndex(({ at }) => at > exchange.answeredAt);
    const upTo = after.reduce(
      (least, { first }) => Math.min(least, first),
      later < 0 ? groups.length : later,
    );
    return [{ exchange, from, upTo: Math.max(from, upTo), isExplained: false }];
  });
}

interface Standing {
  readonly oracle: Oracle;
  readonly silent: readonly Silent[];
  readonly firsts: ReadonlyMap<string, First>;
  readonly numbers: Numbers;
  /** The number of groups that have been written. */
  readonly state: number;
  readonly lastAt: number;
}

function explainSilent(standing: Standing): void {
  for (const one of standing.silent) {
    const isInReach = one.from <= standing.state && standing.state <= one.upTo;
    if (one.isExplained || !isInReach) continue;
    one.isExplained = isExplainedHere(one, standing);
  }
}

function isExplainedHere({ exchange, from }: Silent, standing: Standing): boolean {
  const { answer, command, key } = exchange;
  if (answer === null) return true;
  if (command.kind === 'bad') return isRefusedAt(exchange, command.pointer);
  const first = key === null ? undefined : standing.firsts.get(keyOf(exchange));
  if (first && first.index < standing.state) {
    const isRepeated =
      isConflictOf(exchange, first.exchange) ||
      (checkReplay(exchange, first.exchange) && isSameOutcome(exchange, first, standing.numbers));
    if (isRepeated || first.index < from) return isRepeated;
  }
  if (isTooLate(exchange) || isTooEarly(exchange)) return true;
  const { oracle, numbers, lastAt } = standing;
  const start = Math.max(exchange.sentAt, lastAt);
  const upTo = exchange.answeredAt;
  // At an instant that it names, a request may find what is recorded there too; right after it, no more.
  const own = instantsIn(command)
    .flatMap((time) => [time, time + 1])
    .filter((time) => time > start && time <= upTo);
  return [start, ...own, ...oracle.endings(start, upTo)].some((at) => {
    const ruling = oracle.foresee(command, at);
    const isForgotten = key === null || (ruling.kind === 'refused' && !ruling.isRemembered);
    const leavesNothing = isForgotten && ruling.effects.length === 0;
    if (!leavesNothing) return false;
    return checkAnswer({ answer, command, ruling, view: oracle.view(), numbers }) === null;
  });
}

/**
 * Tells whether a repetition got the outcome of the first request, which may never have got an
 * answer itself.
 */
function isSameOutcome({ answer, command }: Exchange, first: First, numbers: Numbers): boolean {
  if (!first.ruling || !answer || command.kind === 'bad') return false;
  return checkAnswer({ answer, command, numbers, ...first.ruling }) === null;
}

/** The instants that a request names: what it asks for may have passed before it was decided. */
const instantsIn = (command: AnyCommand): number[] =>
  (JSON.stringify(command).match(/\d{4}-\d\d-\d\dT[\d:.]+Z/g) ?? []).map((text) =>
    Date.parse(text),
  );

/** Tells whether it was refused for an expiry that had passed when it arrived. */
function isTooLate({ answer, command, answeredAt }: Exchange): boolean {
  const pointer: string = answer?.body.errors?.[0]?.pointer ?? '';
  const isAboutExpiry = /expir/.test(pointer) && answer?.body.code === 'validation_error';
  return isAboutExpiry && instantsIn(command).some((time) => time <= answeredAt);
}

/** Days that an entry may be dated back (ADR 29). */
const daysBack = 90;

/** The instants of a request from which something is to count, which lie too far back for it to be heard. */
const tooEarly = (command: AnyExchange['command'], now: number): number[] =>
  [...JSON.stringify(command).matchAll(/"effective_at":"([^"]+)"/g)]
    .map(([, text = '']) => Date.parse(text))
    .filter((time) => time < now - daysBack * 24 * 3_600_000);

/** Tells whether it was refused because it dates an entry back too far. */
export function isTooEarly({ answer, command, answeredAt }: AnyExchange): boolean {
  const pointer: string = answer?.body.errors?.[0]?.pointer ?? '';
  const isAboutEffect = pointer.endsWith('/effective_at');
  const isRefused = isAboutEffect && answer?.body.code === 'validation_error';
  return isRefused && tooEarly(command, answeredAt).length > 0;
}

const isRefusedAt = ({ answer }: Exchange, pointer: string): boolean =>
  answer?.status === 400 &&
  answer.body.code === 'validation_error' &&
  JSON.stringify(answer.body.errors ?? []).includes(`"${pointer}`);

function explainShare(oracle: Oracle, group: Group, part: SharePart, numbers: Numbers): void {
  const { events, at } = group;
  const what = `revision ${events[0]?.revision}: ${part.kind} of a debit of the customer`;
  const effects = [...oracle.share(part, at, newIdsIn(events))];
  assert.equal(writtenIn(events, numbers), effects, what);
}

/** The words of events; null for one that keeps a refusal, nothing for one that keeps that nothing happened. */
const writtenIn = (events: History, numbers: Numbers) =>
  events.every(({ type }) => type === 'RequestWithoutEffect')
    ? []
    : events.map((event) => (event.type === 'RequestRefused' ? null : effectOf(event, numbers)));

function explainGroup(
  oracle: Oracle,
  group: Group,
  exchange: Exchange | undefined,
  numbers: Numbers,
): First['ruling'] {
  const { events, at } = group;
  const revision = events[0]?.revision;
  const isWithoutEffect = events.every(({ type }) => type === 'RequestWithoutEffect');
  if (!exchange) {
    const isLook = events.some(isOfLook);
    const done = isLook ? oracle.look(at, newIdsIn(events)) : oracle.settle(at, newIdsIn(events));
    const moved = writtenIn(
      events.filter(({ type }) => !ongoingTypes.includes(type)),
      numbers,
    );
    assert.equal(moved, [...done], `revision ${revision}: ${isLook ? 'a look' : 'what fell due'}`);
    return null;
  }
  const written = writtenIn(events, numbers);
  const { command, answer } = exchange;
  assert.is.not(command.kind, 'bad', `revision ${revision}: a wrong request left an event`);
  assert.equal(tooEarly(command, exchange.sentAt), [], `revision ${revision}: dates back too far`);
  const ruling = oracle.run(command as Command, at, newIdsIn(events));
  const what = `revision ${revision}: ${JSON.stringify(command)}`;
  if (ruling.kind === 'refused') {
    assert.equal(written, [null, ...ruling.effects], `${what} should have been refused`);
    assert.ok(
      ruling.effects.length > 0 || (ruling.isRemembered && exchange.key !== null),
      `${what}: a refusal nobody has to keep`,
    );
    assert.equal(events[0]?.data.details, ruling.details, what);
  } else {
    assert.equal(written, [...ruling.effects], what);
    if (isWithoutEffect) assert.is.not(exchange.key, null, `${what}: nothing that has to be kept`);
  }
  const view = oracle.view();
  if (answer === null || answer.status >= 500) return { ruling, view };
  const fault = checkAnswer({ answer, command: command as Command, ruling, view, numbers });
  assert.is(fault, null, `${what} was answered ${JSON.stringify(answer.body)}: ${fault}`);
  return { ruling, view };
}
