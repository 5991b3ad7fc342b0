/** A request of an attacker. */
export interface AttackRequest {
  /** Below /v1. */
  readonly path: string;
  readonly body: string;
}

/** A way in which one tenant keeps a process from the others. */
export type Attack =
  /** Expensive requests, in turn, each as soon as its connection has the answer to the one before. */
  | {
      readonly kind: 'requests';
      readonly connections: number;
      readonly requests: () => readonly AttackRequest[];
    }
  /** Connections with a request whose body does not come. One that is closed is opened again. */
  | { readonly kind: 'slow_bodies'; readonly connections: number };

const list = <Item>(count: number, item: (index: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, index) => item(index));

const wrongPairs = (count: number): object =>
  Object.fromEntries(list(count, (index) => [`key${index}`, index]));

const filter = (values: number): object => ({
  field: 'id',
  operator: 'in',
  value: { array: list(values, (index) => `cust_${index}`) },
});

const anyWallet = '/wallets/wallet_00000000000000000000000000';

/** Each as large as its route reads, with as many faults as that holds. */
const faultyBodies = (): readonly AttackRequest[] => [
  {
    path: '/customers',
    body: JSON.stringify({ external_id: 'a', metadata: wrongPairs(4_000) }),
  },
  {
    path: '/customers',
    body: JSON.stringify({ external_id: 'a', metadata: wrongPairs(990) }),
  },
  {
    path: '/customers',
    body: `{"external_id":"a","metadata":[${list(9_000, () => '1e-300').join()}]}`,
  },
  {
    path: `${anyWallet}/transactions/bulk`,
    body: JSON.stringify({
      entries: list(9_990, (index) => ({ type: 'debit', credits: -index, metadata: index })),
    }),
  },
  {
    path: `${anyWallet}/transactions/bulk`,
    body: JSON.stringify({
      entries: list(1_000, () => ({ type: 'x', description: 'x'.repeat(3_900) })),
    }),
  },
];

/** Searches with as many values as a body holds, and with as many as are looked up. */
const longFilters = (): readonly AttackRequest[] => [
  { path: '/customers/search', body: JSON.stringify({ filters: list(5, () => filter(1_000)) }) },
  { path: '/customers/search', body: JSON.stringify({ filters: [filter(1_000)] }) },
  { path: '/wallets/search', body: JSON.stringify({ filters: list(40, () => filter(25)) }) },
];

/** The attacks by which one key once stopped the API for everybody. */
export const attacks = {
  'faulty bodies': { kind: 'requests', connections: 12, requests: faultyBodies },
  'long filters': { kind: 'requests', connections: 12, requests: longFilters },
  'slow bodies': { kind: 'slow_bodies', connections: 4_100 },
} as const satisfies Readonly<Record<string, Attack>>;

export type AttackName = keyof typeof attacks;

/** The order for the attacker, which is a process of its own. */
export interface AttackOrder {
  readonly attack: AttackName;
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** The number of answers that an attacker got, by status; 0 where a connection broke. */
export type AttackAnswers = Readonly<Record<number, number>>;
