import {
  type Currency,
  type DecimalText,
  decimal,
  digitsFault,
  invalidField,
  invalidOperation,
  type PeriodUnit,
  zeroText,
} from '@counterfoil/kernel';
import { fitsRhythm, type Rhythm } from '../creation/offered-prices.ts';
import { billedEvery, type LineData, type SoldPrice } from '../lines/line.ts';
import type { LineCommitmentData, SubscriptionCommitmentData } from './commitment.ts';
import type { CommittedData } from './committed.ts';
import type { LineCommitmentBody, LineCommitments } from './schema.ts';
import { timeBucketsOf } from './time-buckets.ts';

/** The place of a request that a commitment stands at. */
interface Place {
  readonly price: SoldPrice;
  /** Of the subscription: it is that of lines without longer periods. */
  readonly rhythm: Rhythm;
  /** JSON pointer of the object that has the members. */
  readonly pointer: string;
  /** The commitment that it takes the place of: what is left out stays as it is. */
  readonly before?: LineCommitmentData | null;
  /** The names of members, where they are others. */
  readonly names?: Readonly<Partial<Record<keyof LineCommitmentBody, string>>>;
}

/** Tells whether a request says anything about the commitment of a line. */
export const asksForCommitment = (body: LineCommitmentBody): boolean =>
  [
    body.commitment_amount,
    body.commitment_quantity,
    body.commitment_type,
    body.commitment_overage_factor,
    body.commitment_true_up_enabled,
    body.commitment_windowed,
    body.commitment_duration,
    body.commitment_time_buckets,
  ].some((value) => value !== undefined && value !== null && value !== false);

/** Tells whether a request says nothing of a commitment but that there are no parts of the day. */
const isEmptied = (body: LineCommitmentBody): boolean =>
  !asksForCommitment({ ...body, commitment_time_buckets: undefined });

/**
 * The commitment of a line of usage as a request asks for it (E 14.1); null for none. An amount or a quantity of 0 is
 * none.
 *
 * @throws a Problem for one that its price cannot have, or that lacks its figures
 */
export function lineCommitmentOf(
  body: LineCommitmentBody,
  { price, rhythm, pointer, before = null, names = {} }: Place,
): LineCommitmentData | null {
  if (!asksForCommitment(body)) return before;
  const at = (name: keyof LineCommitmentBody): string => `${pointer}/${names[name] ?? name}`;
  const time_buckets = body.commitment_time_buckets
    ? [...timeBucketsOf(body.commitment_time_buckets, price, at('commitment_time_buckets'))]
    : (before?.time_buckets ?? []);
  const inBuckets = time_buckets.length > 0;
  const committed = committedBy(body, before, { at, inBuckets });
  if (committed === null && !inBuckets) return null;
  if (price.type !== 'USAGE') {
    const member = committed ? figureOf(committed) : 'commitment_time_buckets';
    throw invalidField(at(member), 'only usage can be committed to');
  }
  const factor =
    body.commitment_overage_factor ?? before?.overage_factor ?? (committed ? undefined : one);
  if (factor === undefined) {
    throw invalidField(at('commitment_overage_factor'), 'is required for a commitment');
  }
  const windowed = body.commitment_windowed ?? before?.windowed ?? inBuckets;
  if (inBuckets && !windowed) {
    throw invalidField(
      at('commitment_windowed'),
      'must be true: parts of the day have commitments for their windows',
    );
  }
  const duration = body.commitment_duration ?? before?.duration ?? null;
  if (windowed && duration !== null) {
    throw invalidField(
      at('commitment_duration'),
      'does not go with commitment_windowed: each window has its commitment anew',
    );
  }
  const every = billedEvery(price);
  return {
    committed,
    overage_factor: atLeastOne(factor, at('commitment_overage_factor')),
    true_up: body.commitment_true_up_enabled ?? before?.true_up ?? false,
    windowed,
    time_buckets,
    duration: longer(duration, every === 'ONETIME' ? rhythm : every, at('commitment_duration')),
  };
}

type Committed = CommittedData;

const one = '1' as DecimalText;

const figureOf = ({ kind }: Committed): keyof LineCommitmentBody => `commitment_${kind}`;

function committedBy(
  body: LineCommitmentBody,
  before: LineCommitmentData | null,
  {
    at,
    inBuckets,
  }: { readonly at: (name: keyof LineCommitmentBody) => string; readonly inBuckets: boolean },
): Committed | null {
  const { commitment_amount: amount = null, commitment_quantity: quantity = null } = body;
  const given = [amount, quantity].filter((figure) => figure !== null && figure !== zeroText);
  if (given.length === 2) {
    throw invalidField(at('commitment_quantity'), 'give either an amount or a quantity');
  }
  const [figure = null] = given;
  if (figure === null && (amount !== null || quantity !== null)) return null;
  const asked = body.commitment_type ?? null;
  if (figure === null) {
    if (before !== null && (asked === null || asked === before.committed?.kind)) {
      return before.committed;
    }
    if (asked === null && inBuckets) return null;
    if (asked === null && isEmptied(body)) return null;
    throw invalidField(at(`commitment_${asked ?? 'amount'}`), 'is required for a commitment');
  }
  const kind = amount === figure ? 'amount' : 'quantity';
  if (asked !== null && asked !== kind) {
    throw invalidField(at('commitment_type'), `is ${kind}: that figure is given`);
  }
  return kind === 'amount' ? { kind, amount: figure } : { kind, quantity: figure };
}

function atLeastOne(factor: DecimalText, pointer: string): DecimalText {
  if (decimal(factor).cmp(decimal('1')) >= 0) return factor;
  throw invalidField(pointer, 'must be at least 1');
}

/** A duration holds whole periods; one that is as long as a period is none of its own. */
function longer(
  duration: PeriodUnit | 'ONETIME' | null,
  rhythm: Rhythm,
  pointer: string,
): PeriodUnit | null {
  if (duration === null) return null;
  const asked = { billing_period: duration, billing_period_count: 1 };
  if (duration === 'ONETIME' || !fitsRhythm(asked, rhythm)) {
    throw invalidField(pointer, `must be whole periods of ${rhythm.count} ${rhythm.unit}`);
  }
  return duration === rhythm.unit && rhythm.count === 1 ? null : duration;
}

/** The names of members of a commitment that stands beside others, by the id of its price. */
const configNames = {
  commitment_overage_factor: 'overage_factor',
  commitment_true_up_enabled: 'enable_true_up',
  commitment_windowed: 'is_window_commitment',
} as const;

/** The commitments of the lines of an offer, each by the id of the price that is sold. Throws for an unknown one. */
export function offeredCommitments(
  given: LineCommitments | null | undefined,
  prices: readonly { readonly id: string }[],
  pointer: string,
): (priceId: string, sold: SoldPrice, rhythm: Rhythm) => LineCommitmentData | null {
  for (const id of Object.keys(given ?? {})) {
    if (prices.some((price) => price.id === id)) continue;
    throw invalidField(`${pointer}/line_item_commitments/${id}`, 'is no price that is sold here');
  }
  return (priceId, price, rhythm) => {
    const config = given?.[priceId];
    if (!config) return null;
    const { overage_factor, enable_true_up, is_window_commitment, ...rest } = config;
    const body = {
      ...rest,
      commitment_overage_factor: overage_factor,
      commitment_true_up_enabled: enable_true_up,
      commitment_windowed: is_window_commitment,
    };
    const place = `${pointer}/line_item_commitments/${priceId}`;
    return lineCommitmentOf(body, { price, rhythm, pointer: place, names: configNames });
  };
}

/** The members of a request that say what a subscription is committed to. */
export interface SubscriptionCommitmentBody {
  readonly commitment_amount?: DecimalText | null | undefined;
  readonly commitment_duration?: PeriodUnit | 'ONETIME' | null | undefined;
  readonly overage_factor?: DecimalText | null | undefined;
  readonly enable_true_up?: boolean | null | undefined;
}

/**
 * The commitment of all usage of a subscription (E 14.2); null for none.
 *
 * @throws a Problem for figures without an amount, and for an amount that nobody can pay
 */
export function subscriptionCommitmentOf(
  {
    commitment_amount,
    commitment_duration,
    overage_factor,
    enable_true_up,
  }: SubscriptionCommitmentBody,
  currency: Currency,
  rhythm: Rhythm,
): SubscriptionCommitmentData | null {
  const factor = atLeastOne(overage_factor ?? ('1' as DecimalText), '/overage_factor');
  const amount = commitment_amount ?? zeroText;
  if (amount === zeroText) {
    const needing = [
      ['overage_factor', !decimal(factor).eq(decimal('1'))],
      ['enable_true_up', enable_true_up === true],
      ['commitment_duration', (commitment_duration ?? null) !== null],
    ] as const;
    const [without] = needing.find(([, isGiven]) => isGiven) ?? [];
    if (without) throw invalidField(`/${without}`, 'needs a commitment_amount');
    return null;
  }
  const fault = digitsFault(amount, currency);
  if (fault !== null) throw invalidField('/commitment_amount', fault);
  return {
    amount,
    overage_factor: factor,
    true_up: enable_true_up ?? false,
    duration: longer(commitment_duration ?? null, rhythm, '/commitment_duration'),
  };
}

/** A subscription that is committed as a whole has no lines that are so on their own (E 14.1). */
export function assertOneKind(
  commitment: SubscriptionCommitmentData | null,
  lines: readonly Pick<LineData, 'commitment' | 'display_name'>[],
): void {
  const line = lines.find((each) => each.commitment !== null);
  if (commitment === null || line === undefined) return;
  throw invalidOperation(
    `All usage of the subscription is committed to: the line ${line.display_name} cannot be so on its own.`,
    { reason: 'unsuitable' },
  );
}
