/**
 * The reasons of refusals that share a code (D38), with what each says. They are `details.reason` of an
 * `invalid_operation`, and of a `service_unavailable` that says why.
 */
export const problemReasons = {
  amount_too_small: 'The amount is worth less than the smallest part of a credit',
  archived: 'The record is archived: readable, but not changed or referred to any more',
  before_creation: 'The instant lies before the record was created',
  clock_skew:
    "The clock of the server differs from the event store's: nothing is written until it is set",
  credits_expired: 'The credits would have expired before they are loaded',
  disabled: 'The record is disabled',
  ended: 'The record has ended',
  exists: 'The record exists already',
  hold_ended: 'The hold is not open: it was captured or voided, or has expired',
  hold_of_debit: 'The hold belongs to a debit of the customer, which ends it',
  hold_of_invoice: 'The hold belongs to an invoice, which ends it',
  hold_exceeded: 'More credits are to be captured than the hold has',
  immutable: 'What is asked to change never changes',
  in_use: 'Other records refer to the record',
  inactive: 'The record is not active',
  inherited: 'The subscription is inherited from another one, and changes with that',
  insufficient_credits_then:
    'Less is left of the credits that the wallet had at `effective_at` than is to be taken',
  insufficient_credits: 'The wallet has fewer credits available than are requested',
  invoice_not_final: 'The invoice is a draft, void or skipped',
  limit_reached: 'There are as many as there may be, or it is as large as it may be',
  never_partial: 'A POST_PAID wallet pays each debit whole',
  no_active_wallet: 'The customer has no active wallet in the currency',
  no_payment_provider: 'The installation has no provider that takes payments by this method',
  no_longer_kept: 'The events that are asked for are no longer kept',
  no_test_clock: 'The environment has no test clock',
  not_creditable: 'All of the invoice was given back, or nothing is known of its payment yet',
  not_yet_reached: 'The log has not reached the position that is asked for',
  no_draft: 'The invoice is not a draft any more',
  not_final: 'The invoice is not final',
  not_void: 'The invoice is not void',
  open_holds: 'The wallet has open holds',
  not_reversible: 'The entry took no credits, or is an expiry',
  other_installation: 'The log was begun by an installation with another secret key',
  paused: 'The subscription is paused',
  payment_state: 'The state of the payment does not allow it',
  production: 'The environment is a production one',
  payment_under_way: 'A payment of the invoice is under way',
  rates_differ: 'The wallets have different conversion rates',
  refunded: 'What was paid of the invoice was given back',
  reversal_exceeded: 'More credits are to be given back than are left of the entry',
  too_soon: 'It was disabled by the service less than a minute ago',
  transaction_ended: 'The transaction does not wait for a payment',
  unsuitable: 'The records do not fit each other',
  voided: 'The invoice is void',
  wallet_closed: 'The wallet is closed',
  wallet_frozen: 'The wallet is frozen',
  wallet_in_debt: 'The wallet owes credits',
} as const satisfies Record<string, string>;

/** The reason of a refusal, for programs. */
export type ProblemReason = keyof typeof problemReasons;
