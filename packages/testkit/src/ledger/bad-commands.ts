import type { BadCommand } from './commands.ts';

/** Figures that no wallet takes: not positive, too fine, too large, or no decimals at all. */
const badCredits: readonly unknown[] = [
  '0',
  '-1',
  '0.0000000001',
  '123456789012345678901234567890',
  '1'.repeat(39),
  '1e3',
  'NaN',
  'Infinity',
  '',
  ' 1',
  '+1',
  true,
  null,
  {},
];

/** Times that no calendar has, or that have passed. */
const badInstants: readonly unknown[] = ['2030-02-30T00:00:00Z', 'soon', '2020-01-01T00:00:00Z', 5];

const bad = (of: BadCommand['of'], body: unknown, pointer: string): BadCommand => ({
  kind: 'bad',
  of,
  body,
  pointer,
});

/** Requests that are wrong by their form, each with the place that the refusal must name. */
export const badCommands: readonly BadCommand[] = [
  ...badCredits.flatMap((credits) => [
    bad('debit', { credits }, '/credits'),
    bad('hold', { credits }, '/credits'),
    bad(
      'top-up',
      { transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: credits },
      '/credits_to_add',
    ),
    bad('bulk', { entries: [{ type: 'debit', credits }] }, '/entries/0/credits'),
  ]),
  ...['2025-02-29T00:00:00Z', '2200-01-01T00:00:00.000Z'].flatMap((effective_at) => [
    bad('debit', { credits: '1', effective_at }, '/effective_at'),
    bad(
      'bulk',
      { entries: [{ type: 'debit', credits: '1', effective_at }] },
      '/entries/0/effective_at',
    ),
  ]),
  ...badInstants.flatMap((instant) => [
    bad('hold', { credits: '1', expires_at: instant }, '/expires_at'),
    bad(
      'top-up',
      {
        transaction_reason: 'FREE_CREDIT_GRANT',
        credits_to_add: '1',
        expiry_date_utc: instant,
      },
      '/expiry_date_utc',
    ),
  ]),
  bad('top-up', { transaction_reason: 'GIFT', credits_to_add: '1' }, '/transaction_reason'),
  bad('top-up', { transaction_reason: 'FREE_CREDIT_GRANT' }, '/credits_to_add'),
  bad('bulk', { entries: [] }, '/entries'),
  bad('settings', { alert_settings: { alert_enabled: true } }, '/alert_settings'),
];
