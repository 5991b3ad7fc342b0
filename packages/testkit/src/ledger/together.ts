import type { AnyExchange, CustomerExchange, Exchange } from './exchange.ts';
import { explainedGroups, type Group, type History } from './history.ts';

/** The ledger of one wallet, and the requests to it. */
export interface WalletStory {
  readonly walletId: string;
  readonly history: History;
  readonly exchanges: readonly Exchange[];
}

/** The log of a customer's debits over several wallets, and the requests that made them. */
export interface DebitsStory {
  readonly history: History;
  readonly exchanges: readonly CustomerExchange[];
}

/** The wallets of a customer, and the debits over them. */
export interface CustomerStory {
  readonly wallets: readonly WalletStory[];
  readonly debits: DebitsStory;
}

/** A piece of a history, and whose it is: the number of a wallet, or null for the log of debits. */
export interface Piece {
  readonly wallet: number | null;
  readonly group: Group;
}

const placeOf = ({ group }: Piece): bigint => group.events[0]?.position ?? 0n;

/** The pieces of all histories in the order of the log; those of one history stay in their own order. */
export function inLogOrder({ wallets, debits }: CustomerStory): Piece[] {
  const piecesOf = (history: History, wallet: number | null): Piece[] =>
    explainedGroups(history).map((group) => ({ wallet, group }));
  const rows = [
    ...wallets.map(({ history }, wallet) => piecesOf(history, wallet)),
    piecesOf(debits.history, null),
  ];
  const all: Piece[] = [];
  for (;;) {
    const waiting = rows.filter((row) => row.length > 0);
    const [first, ...others] = waiting;
    if (!first) return all;
    const next = others.reduce(
      (least, row) => (placeOf(row[0] as Piece) < placeOf(least[0] as Piece) ? row : least),
      first,
    );
    all.push(next.shift() as Piece);
  }
}

/** The ids of the requests for debits of the customer: what they made in wallets has them as its correlation. */
export const debitRequests = ({ exchanges }: DebitsStory): ReadonlySet<string> =>
  new Set(exchanges.map(({ requestId }) => requestId));

/** Every request to a customer's wallets, and for debits over them. */
export const allExchanges = ({ wallets, debits }: CustomerStory): readonly AnyExchange[] => [
  ...wallets.flatMap(({ exchanges }): readonly AnyExchange[] => exchanges),
  ...debits.exchanges,
];
