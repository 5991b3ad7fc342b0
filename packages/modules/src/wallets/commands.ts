import type { RequestContext } from '@counterfoil/engine/define';
import {
  decimal,
  type Instant,
  invalidField,
  type Metadata,
  millisecondsOf,
  startOfCompactDate,
  textOf,
  type WalletId,
  writable,
  zero,
} from '@counterfoil/kernel';
import { customerReference } from '../customers/index.ts';
import { priceUnitReference } from '../pricing-units/index.ts';
import { settingOf } from '../settings/index.ts';
import type { BulkEntry } from './bulk/bulk.ts';
import type { Bulk } from './bulk/schema.ts';
import {
  type AskedDebit,
  createWallet,
  loadCredits,
  loadPurchase,
  type WalletDecision,
} from './decisions.ts';
import type { TransactionReason, WalletType } from './events.ts';
import type { EntryDetails, Load, Quantity } from './ledger/entries.ts';
import { type CreateWallet, type DebitBody, invoicedReason, type TopUp } from './schema.ts';
import { assertConsistentAlerts } from './settings.ts';
import type { BonusSlabs } from './topups/bonus.ts';
import { requestTopUp } from './topups/decisions.ts';

/** The details of an entry from the body of a request; without a reference it refers to the request itself. */
export const entryDetails = (
  context: RequestContext,
  reason: TransactionReason,
  given: GivenDetails = {},
): EntryDetails => ({
  reason,
  referenceType: 'REQUEST',
  referenceId: context.idempotencyKey ?? context.requestId,
  description: given.description ?? null,
  idempotencyKey: context.idempotencyKey,
  metadata: given.metadata ?? {},
  ...(given.effective_at === undefined ? {} : { effectiveAt: given.effective_at }),
});

/** The details of an entry that a body may have. */
interface GivenDetails {
  readonly description?: string | undefined;
  readonly metadata?: Metadata;
  readonly effective_at?: Instant | undefined;
}

/** Days that an entry may be dated back: a quarter, after which statements are final (ADR 29). */
const daysBackMaximum = 90;

/** Refuses an instant that an entry cannot count from: a later one, or one too long ago. */
export function assertDatable(
  now: Instant,
  instant: Instant | undefined,
  pointer = '/effective_at',
): void {
  if (instant === undefined) return;
  if (instant > now) throw invalidField(pointer, 'must not lie in the future');
  const first = millisecondsOf(now) - daysBackMaximum * 24 * 60 * 60 * 1000;
  if (millisecondsOf(instant) >= first) return;
  throw invalidField(pointer, `must lie in the last ${daysBackMaximum} days`);
}

const typeNames: Readonly<Record<WalletType, string>> = {
  PRE_PAID: 'Prepaid',
  POST_PAID: 'Postpaid',
};

/** One credit is worth one unit of the currency (specification §4.6). */
const oneToOne = textOf(decimal('1'));

/** The decision to create a wallet, after everything that the request refers to was found. */
export async function prepareCreation(
  context: RequestContext,
  id: WalletId,
  body: CreateWallet,
): Promise<WalletDecision> {
  const alerts = body.alert_settings ?? null;
  if (alerts) assertConsistentAlerts(alerts);
  const customer = writable(await customerReference(context, body), 'customer', customerName(body));
  const unit = body.price_unit === undefined ? null : await priceUnitOf(context, body.price_unit);
  const currency = unit?.base_currency ?? body.currency;
  const conversionRate = unit?.conversion_rate ?? body.conversion_rate ?? oneToOne;
  const type = body.wallet_type;
  return createWallet(
    {
      id,
      customer_id: customer.id,
      currency,
      conversion_rate: conversionRate,
      topup_conversion_rate: body.topup_conversion_rate ?? conversionRate,
      wallet_type: type,
      name: `${typeNames[type]} Wallet - ${currency.toUpperCase()}`,
      description: body.description ?? null,
      metadata: body.metadata,
      config: body.config ?? { allowed_price_types: type === 'PRE_PAID' ? ['USAGE'] : ['ALL'] },
      alert_settings: alerts,
      auto_topup: body.auto_topup ?? null,
      allow_multiple: body.allow_multiple,
      priority: body.priority ?? null,
      ...(unit && { price_unit: unit.kept }),
    },
    initialLoad(context, body),
  );
}

/** The currency and rate that a wallet copies from a pricing unit (specification §4.6). */
async function priceUnitOf(context: RequestContext, given: string) {
  const { id, code, base_currency, conversion_rate } = await priceUnitReference(context, given);
  return { base_currency, conversion_rate, kept: { id, code, conversion_rate } };
}

const customerName = (body: CreateWallet): string =>
  body.customer_id ?? body.external_customer_id ?? '';

function initialLoad(context: RequestContext, body: CreateWallet): Load | null {
  const expiresAt = initialExpiry(context.now, body);
  const credits = body.initial_credits_to_load;
  if (credits === undefined || decimal(credits).cmp(zero) === 0) return null;
  return {
    ...entryDetails(context, 'FREE_CREDIT_GRANT'),
    referenceType: 'EXTERNAL',
    quantity: { credits },
    priority: null,
    expiresAt,
  };
}

/** The expiry of initial credits from either form; both must agree (D24). */
function initialExpiry(now: Instant, body: CreateWallet): Instant | null {
  const exact = body.initial_credits_expiry_date_utc ?? null;
  const compact = body.initial_credits_to_load_expiry_date;
  const day = compact === undefined ? null : startOfCompactDate(compact);
  const dayPointer = '/initial_credits_to_load_expiry_date';
  if (compact !== undefined && day === null) {
    throw invalidField(dayPointer, 'must be a calendar date as YYYYMMDD');
  }
  if (exact && day && exact !== day) {
    throw invalidField(dayPointer, 'names another instant than initial_credits_expiry_date_utc');
  }
  const pointer = exact ? '/initial_credits_expiry_date_utc' : dayPointer;
  return futureExpiry(now, exact ?? day, pointer);
}

/** An expiry that still lies ahead, or none. Throws 400 with the pointer. */
export function futureExpiry(
  now: Instant,
  expiry: Instant | null,
  pointer: string,
): Instant | null {
  if (expiry !== null && expiry <= now) throw invalidField(pointer, 'must lie in the future');
  return expiry;
}

/** The loads of a top-up: the credits bought or granted, and the bonus as free credits beside them. */
function topUpLoads(context: RequestContext, body: TopUp): readonly [Load, ...Load[]] {
  const { now } = context;
  assertDatable(now, body.effective_at);
  const load: Load = {
    ...entryDetails(context, body.transaction_reason, body),
    quantity: topUpQuantity(body),
    priority: body.priority ?? null,
    expiresAt: futureExpiry(now, body.expiry_date_utc ?? null, '/expiry_date_utc'),
  };
  if (body.bonus_credits_to_add === undefined) return [load];
  if (body.transaction_reason === invoicedReason) {
    throw invalidField(
      '/bonus_credits_to_add',
      'cannot be given with credits that are paid for later; grant it when they are completed',
    );
  }
  const bonus: Load = {
    ...entryDetails(context, 'FREE_CREDIT_GRANT', body),
    quantity: { credits: body.bonus_credits_to_add },
    priority: body.priority ?? null,
    expiresAt: futureExpiry(
      now,
      body.bonus_credits_expiry_date_utc ?? null,
      '/bonus_credits_expiry_date_utc',
    ),
  };
  return [load, bonus];
}

/**
 * The decision of a top-up: a load, or an order of credits that are paid for later, which gets its id
 * here. Throws 400 for fields that the request lacks.
 */
export async function topUpDecision(
  context: RequestContext,
  id: string,
  body: TopUp,
): Promise<WalletDecision> {
  if (body.transaction_reason !== invoicedReason) {
    const loads = topUpLoads(context, body);
    const [load, ...given] = loads;
    // A bonus that the request names stands in place of what slabs would bring.
    const isPurchase = body.transaction_reason === 'PURCHASED_CREDIT_DIRECT' && given.length === 0;
    return isPurchase ? loadPurchase(id, load, await bonusSlabs(context)) : loadCredits(id, loads);
  }
  if (body.effective_at !== undefined) {
    throw invalidField(
      '/effective_at',
      'cannot be given with credits that count from their payment',
    );
  }
  const [load] = topUpLoads(context, body);
  return requestTopUp(id, load, context.newId('wtxn'), await bonusSlabs(context));
}

/** The bonuses that purchases bring in the environment; none where they are switched off. */
async function bonusSlabs(context: RequestContext): Promise<BonusSlabs> {
  const { enabled, slabs } = await settingOf(context, 'bonus_credits_topup_config');
  return enabled ? slabs : [];
}

/** The quantity that is asked for; the decision compares the two forms when both are given. */
function topUpQuantity({ credits_to_add: credits, amount }: TopUp): Quantity {
  if (credits !== undefined) return amount === undefined ? { credits } : { credits, amount };
  if (amount !== undefined) return { amount };
  throw invalidField('/credits_to_add', 'credits_to_add or amount is required');
}

/** The entries of a bulk. Throws 400 with the index of an entry whose expiry has passed. */
export const bulkEntries = (context: RequestContext, { entries }: Bulk): readonly BulkEntry[] =>
  entries.map((entry, index): BulkEntry => {
    assertDatable(context.now, entry.effective_at, `/entries/${index}/effective_at`);
    const details = entryDetails(context, entry.transaction_reason, entry);
    if (entry.type === 'debit') {
      return { type: 'debit', debit: { ...details, ...askedFor(entry) } };
    }
    const pointer = `/entries/${index}/expiry_date_utc`;
    return {
      type: 'credit',
      load: {
        ...details,
        quantity: { credits: entry.credits },
        priority: entry.priority ?? null,
        expiresAt: futureExpiry(context.now, entry.expiry_date_utc ?? null, pointer),
      },
    };
  });

/** The debit that a body asks for. Throws 400 for an instant that it cannot count from. */
export function debitOf(context: RequestContext, body: DebitBody): AskedDebit {
  assertDatable(context.now, body.effective_at);
  return { ...entryDetails(context, body.transaction_reason, body), ...askedFor(body) };
}

const askedFor = ({ credits, allow_partial }: Pick<DebitBody, 'credits' | 'allow_partial'>) => ({
  credits,
  isPartialAllowed: allow_partial,
});
