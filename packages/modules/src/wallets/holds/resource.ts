import {
  createdStamps,
  decimal,
  decimalPlaces,
  instantSchema,
  metadataSchema,
  positiveDecimalSchema,
  recordStampsShape,
  recordStatusSchema,
  type Stamped,
  textOf,
  textSchema,
  updatedStamps,
  withoutNulls,
} from '@counterfoil/kernel';
import { z } from 'zod';
import type { WalletEvent } from '../events.ts';
import type { Wallet } from '../wallet.ts';
import type { Hold } from './holds.ts';

const creditsSchema = positiveDecimalSchema(decimalPlaces.credits);

/** Body of POST /wallets/{id}/holds. */
export const createHoldSchema = z
  .object({
    credits: creditsSchema,
    expires_at: instantSchema.optional(),
    description: textSchema(1024).optional(),
    idempotency_key: textSchema(255).optional(),
    metadata: metadataSchema.default({}),
  })
  .meta({ id: 'CreateHold' });

/** Body of PUT /wallets/{id}/holds/{hold_id}: absent fields stay as they are (D75). */
export const changeHoldSchema = z
  .object({ credits: creditsSchema.optional(), expires_at: instantSchema.optional() })
  .meta({ id: 'ChangeHold' });

/** Body of POST /wallets/{id}/holds/{hold_id}/capture; without credits the whole hold. */
export const captureHoldSchema = z
  .object({
    credits: creditsSchema.optional(),
    final: z
      .boolean()
      .default(true)
      .meta({ description: 'False keeps the rest held, for another capture' }),
    description: textSchema(1024).optional(),
    idempotency_key: textSchema(255).optional(),
    metadata: metadataSchema.default({}),
  })
  .meta({ id: 'CaptureHold' });

/** A hold on the wire. */
export const holdSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    wallet_id: z.string(),
    customer_id: z.string(),
    debit_id: z
      .string()
      .optional()
      .meta({ description: 'The debit of the customer that holds them, and ends it by itself' }),
    invoice_id: z.string().optional().meta({
      description: 'The invoice that holds them until it is final, and captures them then',
    }),
    hold_status: z.enum(['open', 'captured', 'voided', 'expired']),
    credits: z.string(),
    captured_credits: z.string(),
    expires_at: instantSchema.optional(),
    ended_at: instantSchema.optional(),
    description: z.string().optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'WalletHold' });
export type HoldResource = z.output<typeof holdSchema>;

/** An open hold as its wallet has it. */
export const openHoldView = (wallet: Wallet, { id, credits, ...hold }: Hold): HoldResource =>
  withoutNulls({
    id,
    tenant_id: wallet.tenant_id,
    environment_id: wallet.environment_id,
    created_at: hold.created_at,
    created_by: hold.created_by,
    updated_at: hold.created_at,
    updated_by: hold.created_by,
    status: 'published' as const,
    wallet_id: wallet.id,
    customer_id: wallet.customer_id,
    debit_id: hold.debit_id ?? null,
    invoice_id: hold.invoice_id ?? null,
    hold_status: 'open' as const,
    credits,
    captured_credits: hold.captured,
    expires_at: hold.expires_at,
    description: hold.description,
    metadata: hold.metadata,
  });

function captured(
  hold: HoldResource,
  { data, stamp }: Stamped<Extract<WalletEvent, { type: 'HoldCaptured' }>>,
): HoldResource {
  const before = { ...hold, ...updatedStamps(stamp) };
  const captured_credits = textOf(decimal(hold.captured_credits).plus(decimal(data.credits)));
  if (data.is_final) {
    return { ...before, captured_credits, hold_status: 'captured', ended_at: stamp.occurred_at };
  }
  const credits = textOf(decimal(hold.credits).minus(decimal(data.credits)));
  return { ...before, captured_credits, credits };
}

/** The hold that an event is about; null when it is about none. */
export const holdIdOf = (event: WalletEvent): string | null =>
  'hold_id' in event.data ? event.data.hold_id : null;

/** A hold after an event of its wallet, which may be about another one; null before it exists. */
export function holdAfter(
  hold: HoldResource | null,
  event: Stamped<WalletEvent>,
  id: string,
  walletId: string,
): HoldResource | null {
  if (holdIdOf(event) !== id) return hold;
  switch (event.type) {
    case 'CreditsHeld': {
      const {
        customer_id,
        debit_id = null,
        invoice_id = null,
        credits,
        expires_at,
        description,
        metadata,
      } = event.data;
      return withoutNulls({
        id,
        ...createdStamps(event.stamp),
        status: 'published' as const,
        wallet_id: walletId,
        customer_id,
        debit_id,
        invoice_id,
        hold_status: 'open' as const,
        credits,
        captured_credits: '0',
        expires_at,
        description,
        metadata,
      });
    }
    case 'HoldChanged': {
      const { credits, expires_at } = event.data;
      return hold && withoutNulls({ ...hold, ...updatedStamps(event.stamp), credits, expires_at });
    }
    case 'HoldCaptured':
      return hold && captured(hold, event);
    case 'HoldReleased': {
      const { cause: hold_status, released_at: ended_at } = event.data;
      return hold && { ...hold, ...updatedStamps(event.stamp), hold_status, ended_at };
    }
    default:
      return hold;
  }
}
