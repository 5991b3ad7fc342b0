/**
 * The ledger of one wallet as it was exported: the events of its stream, exactly as they were hashed.
 * Everything that judges a ledger starts from this, and from nothing of the code under test.
 */

// biome-ignore lint/suspicious/noExplicitAny: events of every type, written by what is under test.
export type Data = Readonly<Record<string, any>>;

export interface HistoryEvent {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  readonly data: Data;
  readonly metadata: Data & {
    readonly tenant_id: string;
    readonly environment_id: string;
    readonly occurred_at: string;
    readonly $correlationId: string;
    readonly prev: string;
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
  for await (const { id, type, stream, revision, data, metadata } of events) {
    const copy: unknown = JSON.parse(
      JSON.stringify({ id, type, stream, revision, data, metadata }),
    );
    history.push(copy as HistoryEvent);
  }
  return history;
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
    if (last?.correlation === correlation && last.at === at) last.events.push(event);
    else groups.push({ correlation, at, events: [event] });
  }
  return groups;
}
