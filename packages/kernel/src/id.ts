import { hash, randomFillSync } from 'node:crypto';
import { z } from 'zod';
import type { Brand } from './brand.ts';
import { type Instant, millisecondsOf } from './instant.ts';

/** The prefix of each kind of record (D9); an id is prefix, underscore, ULID. */
export type IdPrefix =
  | 'tenant'
  | 'env'
  | 'user'
  | 'secret'
  | 'cust'
  | 'eim'
  | 'wallet'
  | 'wtxn'
  | 'hold'
  | 'debit'
  | 'event'
  | 'backfill'
  | 'ckpt'
  | 'cimp'
  | 'meter'
  | 'group'
  | 'price_unit'
  | 'feat'
  | 'coupon'
  | 'plan'
  | 'psync'
  | 'addon'
  | 'cost'
  | 'price'
  | 'ent'
  | 'cg'
  | 'taxrate'
  | 'ta'
  | 'subs'
  | 'subs_line'
  | 'settlement'
  | 'sched'
  | 'pause'
  | 'phase'
  | 'addon_assoc'
  | 'coupon_assoc'
  | 'cga'
  | 'inv'
  | 'inv_line'
  | 'coupon_app'
  | 'taxapp'
  | 'pay'
  | 'rerating'
  | 'attempt'
  | 'refund'
  | 'cn'
  | 'cn_line'
  | 'setting'
  | 'webhook'
  | 'wtask'
  | 'esub'
  | 'ucred'
  | 'alert'
  | 'conn'
  | 'task'
  | 'schtask'
  | 'req';

export type Id<Prefix extends IdPrefix> = Brand<string, Prefix>;
export type TenantId = Id<'tenant'>;
export type EnvironmentId = Id<'env'>;
export type UserId = Id<'user'>;
export type KeyId = Id<'secret'>;
export type CustomerId = Id<'cust'>;
export type WalletId = Id<'wallet'>;
export type TransactionId = Id<'wtxn'>;
export type HoldId = Id<'hold'>;
export type DebitId = Id<'debit'>;
export type CheckpointId = Id<'ckpt'>;
export type CatalogImportId = Id<'cimp'>;
export type PlanSyncId = Id<'psync'>;
export type MeterId = Id<'meter'>;
export type GroupId = Id<'group'>;
export type PriceUnitId = Id<'price_unit'>;
export type FeatureId = Id<'feat'>;
export type CouponId = Id<'coupon'>;
export type PlanId = Id<'plan'>;
export type AddonId = Id<'addon'>;
export type CostsheetId = Id<'cost'>;
export type PriceId = Id<'price'>;
export type EntitlementId = Id<'ent'>;
export type UsageAlertId = Id<'alert'>;
export type CreditGrantId = Id<'cg'>;
export type TaxRateId = Id<'taxrate'>;
export type TaxAssociationId = Id<'ta'>;
export type SubscriptionId = Id<'subs'>;
export type SubscriptionLineId = Id<'subs_line'>;
export type SettlementId = Id<'settlement'>;
export type ScheduleId = Id<'sched'>;
export type PauseId = Id<'pause'>;
export type PhaseId = Id<'phase'>;
export type CouponAssociationId = Id<'coupon_assoc'>;
export type AddonAssociationId = Id<'addon_assoc'>;
export type GrantApplicationId = Id<'cga'>;
export type InvoiceId = Id<'inv'>;
export type InvoiceLineId = Id<'inv_line'>;
export type CouponApplicationId = Id<'coupon_app'>;
export type AppliedTaxId = Id<'taxapp'>;
export type PaymentId = Id<'pay'>;
export type PaymentAttemptId = Id<'attempt'>;
export type RefundId = Id<'refund'>;
export type CreditNoteId = Id<'cn'>;
export type CreditNoteLineId = Id<'cn_line'>;
export type ConnectionId = Id<'conn'>;
export type TaskId = Id<'task'>;
export type ScheduledTaskId = Id<'schtask'>;

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const timeLength = 10;
const entropyBytes = 10;
/** Half of the entropy is 40 bits, which a number holds exactly, and eight characters. */
const halfBytes = 5;
const halfLength = 8;

/** The last characters of a whole number in the alphabet. */
function encode(value: number, length: number): string {
  let rest = value;
  let text = '';
  for (let place = 0; place < length; place += 1) {
    text = alphabet[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

const encodeTime = (milliseconds: number): string => encode(milliseconds, timeLength);

const encodeEntropy = (bytes: Uint8Array): string =>
  encode(numberAt(bytes, 0), halfLength) + encode(numberAt(bytes, halfBytes), halfLength);

function numberAt(bytes: Uint8Array, start: number): number {
  let value = 0;
  for (let place = start; place < start + halfBytes; place += 1) {
    value = value * 256 + (bytes[place] ?? 0);
  }
  return value;
}

/** A new id from a time and ten bytes of entropy. Pure: the caller brings both. */
export const makeId = <Prefix extends IdPrefix>(
  prefix: Prefix,
  at: Instant,
  entropy: Uint8Array,
): Id<Prefix> =>
  `${prefix}_${encodeTime(millisecondsOf(at))}${encodeEntropy(entropy)}` as Id<Prefix>;

/** Randomness from the operating system for ids to come: asking for it costs more than the rest of an id. */
const pool = new Uint8Array(400 * entropyBytes);
let poolUsed = pool.length;

/** A new id from a time and fresh randomness: 80 bits, from the operating system, each used once. */
export function randomId<Prefix extends IdPrefix>(prefix: Prefix, at: Instant): Id<Prefix> {
  if (poolUsed === pool.length) {
    randomFillSync(pool);
    poolUsed = 0;
  }
  poolUsed += entropyBytes;
  return makeId(prefix, at, pool.subarray(poolUsed - entropyBytes, poolUsed));
}

/**
 * The id that always follows from the same seed. A create that carries an idempotency key derives
 * its id this way, so that a repetition collides with the first by itself. All 26 characters
 * come from the seed, because a repetition happens at another time.
 */
export function derivedId<Prefix extends IdPrefix>(prefix: Prefix, seed: string): Id<Prefix> {
  const digest = hash('sha256', `${prefix}\n${seed}`, 'buffer');
  const time = encodeTime(digest.readUIntBE(entropyBytes, 6));
  return `${prefix}_${time}${encodeEntropy(digest)}` as Id<Prefix>;
}

/**
 * The id of the nth record inside a parent, at a time. Ids of one parent sort as their numbers do
 * as long as time does not run backwards, which is what keeps a ledger page in ledger order.
 */
export function sequencedId<Prefix extends IdPrefix>(
  prefix: Prefix,
  at: Instant,
  parent: string,
  sequence: number,
): Id<Prefix> {
  const entropy = Buffer.alloc(entropyBytes);
  entropy.writeUInt32BE(sequence, 0);
  hash('sha256', parent, 'buffer').copy(entropy, 4, 0, 6);
  return makeId(prefix, at, entropy);
}

/**
 * Schema of a reference to a record. It takes any short text: the look-up decides whether the record
 * exists, with 404, and not the form of the text (D5).
 */
export const referenceSchema = <Prefix extends IdPrefix>(prefix: Prefix) =>
  z
    .string()
    .min(1)
    .max(64)
    .transform((text) => text as Id<Prefix>)
    .meta({ example: `${prefix}_01KA0000000000000000000000` });
