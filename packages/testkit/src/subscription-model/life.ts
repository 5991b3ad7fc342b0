/** Milliseconds since 1970. The model knows no other time, and money only in whole cents. */
export type Moment = number;

export interface Stretch {
  readonly from: Moment;
  readonly to: Moment;
}

/** A line of a subscription in the model, with the periods of the subscription. */
export interface ModelLine {
  readonly name: string;
  readonly kind: 'advance' | 'arrear' | 'usage';
  /** The price of one, for a whole period; of usage for one event. */
  readonly cents: number;
  readonly quantity: number;
  /** Of usage: so much is paid for each period in any case. */
  readonly commitment: ModelCommitment | null;
}

/** Usage that is paid for in any case. */
export interface ModelCommitment {
  readonly cents: number;
  readonly truesUp: boolean;
  /** True where it is for a year at a time, and not for each period. */
  readonly isYearly: boolean;
}

/** Another plan. */
export interface ModelPlan {
  readonly unit: 'DAILY' | 'WEEKLY' | 'MONTHLY';
  readonly count: number;
  readonly anchor: 'start' | 'calendar';
  readonly lines: readonly ModelLine[];
}

/** Something that a caller does. */
export type ModelAct = { readonly at: Moment; readonly prorates: boolean } & (
  | { readonly kind: 'quantity'; readonly line: string; readonly quantity: number }
  | { readonly kind: 'cancel' | 'cancel at end' | 'revert' | 'look' }
  | { readonly kind: 'cancel on'; readonly on: Moment }
  | ({ readonly kind: 'pause' | 'pause at end' } & ModelPause)
  | ({ readonly kind: 'pause on'; readonly on: Moment } & ModelPause)
  | { readonly kind: 'resume' }
  | { readonly kind: 'add'; readonly added: ModelLine }
  | { readonly kind: 'remove'; readonly line: string }
  | {
      readonly kind: 'attach';
      readonly addon: string;
      readonly isOnce: boolean;
      readonly lines: readonly ModelLine[];
    }
  /** Now, or with the period that runs. */
  | { readonly kind: 'detach'; readonly addon: string; readonly isNow: boolean }
  | { readonly kind: 'change' | 'change at end'; readonly plan: ModelPlan }
  | { readonly kind: 'trial'; readonly to: Moment }
  /** Another phase follows. */
  | { readonly kind: 'phase'; readonly on: Moment; readonly lines: readonly ModelLine[] }
);

/** An act of a kind. */
export type ActOf<Kind extends ModelAct['kind']> = Extract<ModelAct, { kind: Kind }>;

/** Acts that wait for the end of a pause. */
export const ofLines: ReadonlySet<ModelAct['kind']> = new Set([
  ...([
    'quantity',
    'add',
    'remove',
    'attach',
    'detach',
    'phase',
    'change',
    'change at end',
  ] as const),
]);

interface ModelPause {
  /** Null: until somebody resumes it. */
  readonly until: Moment | null;
  /** True where usage in it is billed. */
  readonly bills: boolean;
}

/** The terms of a subscription, and everything that is done to it. */
export interface ModelLife {
  /** The instant at which it is ordered. */
  readonly ordered: Moment;
  readonly start: Moment;
  readonly end: Moment | null;
  readonly trialDays: number;
  /** Minutes by which the clock of its zone is ahead; the zone has no summer time. */
  readonly ahead: number;
  readonly unit: 'DAILY' | 'WEEKLY' | 'MONTHLY';
  readonly count: number;
  readonly anchor: Moment | 'start' | 'calendar';
  readonly prorates: boolean;
  readonly lines: readonly ModelLine[];
  /** Of all usage together. */
  readonly commitment: ModelCommitment | null;
  readonly acts: readonly ModelAct[];
}

/** Charges, credits and usage of one settlement, in the words in which the model and the service are compared. */
export interface Entry {
  readonly at: Moment;
  /** In the order of the texts. */
  readonly lines: readonly string[];
}

/** The account of a life. */
export interface Account {
  readonly settled: readonly Entry[];
  /** The periods that were closed. */
  readonly closed: readonly Stretch[];
  /** For each act whether it was let through. */
  readonly accepted: readonly boolean[];
  readonly ended: Moment | null;
}

const iso = (moment: Moment): string => new Date(moment).toISOString();

const figure = (cents: bigint): string =>
  `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;

/** One line of an account. */
export const lineText = (
  kind: 'charge' | 'credit' | 'usage' | 'commitment',
  name: string,
  { from, to }: Stretch,
  cents: bigint | null,
): string => [kind, name, iso(from), iso(to), cents === null ? '' : figure(cents)].join(' ');

/** Usage that is now to be billed, without the pauses in it. */
export const usageText = (name: string, span: Stretch, without: readonly Stretch[]): string =>
  [
    lineText('usage', name, span, null),
    ...without.map(({ from, to }) => `without ${iso(from)} ${iso(to)}`),
  ].join(' ');

/** A commitment that usage is held against; of all together without a name. */
export const commitmentText = (
  name: string | null,
  span: Stretch,
  cents: bigint,
  truesUp: boolean,
): string => `${lineText('commitment', name ?? 'all', span, cents)} ${truesUp ? 'trued up' : ''}`;
