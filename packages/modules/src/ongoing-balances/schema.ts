import { instantSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { alertStateSchema, walletSchema } from '../wallets/index.ts';

/** The wallet with what usage and invoices leave of its balance (specification §10.2; E 18.8). */
export const realTimeBalanceSchema = walletSchema
  .extend({
    real_time_balance: z.string(),
    real_time_credit_balance: z.string(),
    balance_updated_at: instantSchema,
    current_period_usage: z.string(),
    unpaid_invoices_amount: z.string(),
    ongoing_alert_state: alertStateSchema,
    position: z.string(),
  })
  .meta({ id: 'WalletBalance' });
export type RealTimeBalance = z.output<typeof realTimeBalanceSchema>;
