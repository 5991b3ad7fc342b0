/**
 * The ledger of one wallet as it was exported: the events of its stream, exactly as they were hashed.
 * Everything that judges a ledger starts from this, and from nothing of the code under test.
 */

import { creditsOf, shownCredits } from './units.ts';

// biome-ignore lint/suspicious/noExplicitAny: events of every type, written by what is under test.
export type Data = Readonly<Record<string, any>>;

export interface HistoryEvent {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  /** Its place among all events of the log; none in an export. */
  readonly position?: bigint;
  readonly data: Data;
  /** The data as the log keeps it: without what follows from the rest of the event. */
  readonly kept?: Data;
  readonly metadata: Data & {
    readonly tenant_id: string;
    readonly environment_id: string;
    readonly occurred_at: string;
    readonly $correlationId: string;
    readonly hash: string;
    readonly request?: {
      readonly key: string;
      readonly fields: Readonly<Record<string, string>>;
      readonly events: number;
    };
  };
}

export type History = readonly HistoryEvent[];

/** An event without its place in a log. */
export type Fact = { readonly type: string; readonly data: Data };

/** The events of a stream as a history: what an export of them would contain. */
export async function historyOf(
  events: AsyncIterable<
    Omit<HistoryEvent, 'data' | 'metadata'> & { data: unknown; metadata: object }
  >,
): Promise<History> {
  const history: HistoryEvent[] = [];
  for await (const { id, type, stream, revision, position, data, metadata } of events) {
    const copy: HistoryEvent = JSON.parse(
      JSON.stringify({ id, type, stream, revision, data, metadata }),
    );
    const place = position === undefined ? {} : { position };
    history.push({ ...copy, ...place, data: wholeData(copy), kept: copy.data });
  }
  return history;
}

/** The data of an event with what the log leaves out of it. */
export function wholeData({ type, data, metadata }: HistoryEvent): Data {
  const isOrder = type.startsWith('TopUp');
  if (!isOrder && !entryTypes.includes(type)) return data;
  const isLot = isOrder || type === 'CreditsLoaded';
  return {
    description: null,
    idempotency_key: null,
    metadata: {},
    reference_type: null,
    reference_id: data.reference_type === 'REQUEST' ? data.idempotency_key : null,
    topup_conversion_rate: data.conversion_rate,
    ...(isLot ? { priority: null, expires_at: null } : {}),
    ...(isOrder ? {} : { effective_at: metadata.occurred_at, ...balanceBefore(type, data) }),
    ...data,
  };
}

/** The balance before an entry: credits came to it, or went from it. */
function balanceBefore(type: string, { credits, credit_balance_after: after }: Data) {
  const change = isCredit({ type }) ? creditsOf(credits) : -creditsOf(credits);
  return { credit_balance_before: shownCredits(creditsOf(after) - change) };
}

/** Types of events that move credits: each is one entry of the ledger. */
export const entryTypes = [
  'CreditsLoaded',
  'CreditsDebited',
  'CreditsExpired',
  'HoldCaptured',
  'DebitReversed',
];

/** Tells whether an entry brings credits in. */
export const isCredit = ({ type }: { readonly type: string }): boolean =>
  type === 'CreditsLoaded' || type === 'DebitReversed';

export const isEntry = ({ type }: { readonly type: string }): boolean => entryTypes.includes(type);

/** Types that the engine writes into the streams of records for itself. */
export const engineTypes = [
  'RequestRefused',
  'RequestWithoutEffect',
  'ClaimRevoked',
  'ReferenceClaimed',
];

/**
 * Everything else that a wallet's stream may hold. A type that is not in here has been looked at by
 * nobody.
 */
export const walletTypes = [
  ...entryTypes,
  'WalletCreated',
  'WalletSettingsChanged',
  'CreditsHeld',
  'HoldChanged',
  'HoldReleased',
  'TopUpRequested',
  'TopUpFailed',
  'AutomaticTopUpStopped',
  'BulkRecorded',
  'WalletFrozen',
  'WalletUnfrozen',
  'WalletClosed',
  'AlertStateChanged',
];

/** Types about what a wallet is going to pay: usage and invoices cause them, and no request to the wallet. */
export const ongoingTypes = ['OngoingAlertStateChanged', 'FeatureAlertStateChanged'];

/** Tells whether an event is of a look at what is going to be paid, which nobody has to ask for. */
export const isOfLook = ({ type, data }: Fact): boolean =>
  ongoingTypes.includes(type) || data.cause === 'ongoing' || data.automatic?.cause === 'ongoing';

/** Tells whether an event says that the service itself had nothing to do to a wallet because of what a request led to elsewhere. */
export const isIdle = ({ type, metadata }: HistoryEvent): boolean =>
  type === 'RequestWithoutEffect' && metadata.$causationId !== metadata.$correlationId;

/** The pieces that requests and due work explain: what is told of money that is going to be paid moves none. */
export const explainedGroups = (history: History): Group[] =>
  groupsOf(history).filter(
    ({ events }) => !events.every(({ type }) => ongoingTypes.includes(type)),
  );

/** Types that the log of a customer's debits may hold. */
export const debitTypes = ['DebitRequested', 'DebitCompleted', 'DebitRefused'];

/** Ids that the service gave in these events: of a hold, and of orders. */
export const newIdsIn = (events: readonly Fact[]) => ({
  hold: String(events.find(({ type }) => type === 'CreditsHeld')?.data.hold_id ?? ''),
  orders: events
    .filter(({ type }) => type === 'TopUpRequested')
    .map(({ data }) => String(data.transaction_id)),
});

/** Events that one request caused, or that fell due by themselves at one time. */
export interface Group {
  readonly correlation: string;
  readonly at: number;
  readonly events: History;
}

/** A history in the pieces in which it was decided. */
export function groupsOf(history: History): Group[] {
  const groups: { correlation: string; at: number; events: HistoryEvent[] }[] = [];
  for (const event of history) {
    const { $correlationId: correlation, occurred_at } = event.metadata;
    const at = Date.parse(occurred_at);
    const last = groups.at(-1);
    // What marks a request begins an append: a debit of a customer makes several of one wallet.
    const isSame = last?.correlation === correlation && last.at === at;
    if (isSame && !event.metadata.request) last.events.push(event);
    else groups.push({ correlation, at, events: [event] });
  }
  return groups;
}
