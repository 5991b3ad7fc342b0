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

type Unit = 'DAILY' | 'WEEKLY' | 'MONTHLY';

/** A grant of credits. */
export interface ModelGrant {
  readonly name: string;
  readonly credits: number;
  /** Null: it gives once. */
  readonly unit: Unit | null;
  readonly count: number;
  /** A number of its units after each time that it gives, with the billing period, or never. */
  readonly expires: 'never' | 'with the period' | { readonly unit: Unit; readonly count: number };
}

/** A grant that a subscription has beside its plan. */
export interface ModelOwnGrant extends ModelGrant {
  /** Null: with the subscription, or from the instant on at which it is given. */
  readonly from: Moment | null;
  readonly until: Moment | null;
}

/** A coupon that a subscription redeems: for a line, for a phase, or for all of it. */
export interface ModelCoupon {
  readonly name: string;
  readonly line: string | null;
  /** The place of the phase. */
  readonly phase: number | null;
  readonly from: Moment | null;
  readonly until: Moment | null;
}

/** Another plan. */
export interface ModelPlan {
  readonly unit: Unit;
  readonly count: number;
  readonly anchor: 'start' | 'calendar';
  readonly lines: readonly ModelLine[];
  readonly grants: readonly ModelGrant[];
}

/** A subscription that others can be invoiced with. */
export interface ModelParent {
  readonly name: string;
  readonly unit: Unit;
  readonly count: number;
}

/** A phase that follows on another one. */
export interface ModelPhase {
  readonly on: Moment;
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
      readonly grants: readonly ModelGrant[];
    }
  /** Now, or with the period that runs. */
  | { readonly kind: 'detach'; readonly addon: string; readonly isNow: boolean }
  | { readonly kind: 'change' | 'change at end'; readonly plan: ModelPlan }
  | { readonly kind: 'trial'; readonly to: Moment }
  /** Another phase follows. */
  | ({ readonly kind: 'phase' } & ModelPhase)
  /** A phase is given up, by its place. */
  | { readonly kind: 'drop phase'; readonly place: number }
  | { readonly kind: 'grant'; readonly grant: ModelOwnGrant }
  /** Now, or at an instant. */
  | { readonly kind: 'end grant'; readonly grant: string; readonly on: Moment | null }
  /** A customer begins to inherit the subscription, or ceases to. */
  | { readonly kind: 'share' | 'unshare'; readonly customer: string }
  /** It is invoiced with another one, or alone again. */
  | { readonly kind: 'group'; readonly parent: ModelParent | null }
  /** Its opening invoice is paid, or becomes void. */
  | { readonly kind: 'pay' | 'expire' }
);

/** An act of a kind. */
export type ActOf<Kind extends ModelAct['kind']> = Extract<ModelAct, { kind: Kind }>;

/** Acts that wait for the end of a pause. */
export const ofRunning: ReadonlySet<ModelAct['kind']> = new Set([
  ...([
    'quantity',
    'add',
    'remove',
    'attach',
    'detach',
    'phase',
    'drop phase',
    'share',
    'unshare',
    'change',
    'change at end',
  ] as const),
]);

/** Acts that one has that waits for its first payment. */
export const ofUnpaid: ReadonlySet<ModelAct['kind']> = new Set([
  ...(['look', 'cancel', 'pay', 'expire'] as const),
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
  readonly unit: Unit;
  readonly count: number;
  readonly anchor: Moment | 'start' | 'calendar';
  readonly prorates: boolean;
  /** True where it is sold under the condition that its first invoice is paid. */
  readonly waits: boolean;
  readonly lines: readonly ModelLine[];
  /** The phases after the first; without any it is not sold in phases. */
  readonly phases: readonly ModelPhase[];
  readonly grants: readonly ModelGrant[];
  readonly ownGrants: readonly ModelOwnGrant[];
  readonly coupons: readonly ModelCoupon[];
  /** The customers who inherit it from the beginning. */
  readonly heirs: readonly string[];
  /** Another customer who pays for it. */
  readonly payer: string | null;
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
  /** Credits that were given, skipped and given up, in the order of the texts. */
  readonly credits: readonly string[];
  /** The coupons that it has in the end. */
  readonly coupons: readonly string[];
  /** The lives of those who inherit it, in the order in which they began. */
  readonly heirs: readonly string[];
  /** The one that it is invoiced with, and who pays, in the end. */
  readonly family: string;
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

/** A coupon that a subscription has. */
export const couponText = (
  { name, line, phase }: Pick<ModelCoupon, 'name' | 'line' | 'phase'>,
  from: Moment,
  until: Moment | null,
): string =>
  [name, line ?? 'all', phase ?? 'always', iso(from), until === null ? '' : iso(until)].join(' ');

/** One time at which a grant gives its credits, in hundred-millionths. */
export const grantedText = (
  { name, number }: { readonly name: string; readonly number: number },
  { from, to }: { readonly from: Moment; readonly to: Moment | null },
  credits: string,
  expires: Moment | null,
): string =>
  [
    `given ${name} ${number} ${iso(from)}`,
    to === null ? 'once' : iso(to),
    credits,
    expires === null ? 'for ever' : iso(expires),
  ].join(' ');

/** One time at which a grant gives nothing: because of a pause, or because it ended before. */
export const ungrantedText = (
  why: 'skipped' | 'lost',
  { name, number }: { readonly name: string; readonly number: number },
): string => `${why} ${name} ${number}`;

/** The life of somebody who inherits a subscription. */
export interface ModelHeir {
  readonly name: string;
  readonly status: string;
  readonly closed: readonly Stretch[];
  /** The period that runs. */
  readonly open: Stretch | null;
  readonly ended: Moment | null;
}

export const heirText = ({ name, status, closed, open, ended }: ModelHeir): string =>
  [
    `${name} ${status}`,
    ...closed.map(({ from, to }) => `${iso(from)}/${iso(to)}`),
    open === null ? 'between' : `in ${iso(open.from)}/${iso(open.to)}`,
    ended === null ? 'lasting' : `ended ${iso(ended)}`,
  ].join(' ');
