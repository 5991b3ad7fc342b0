import type { Projection } from '@counterfoil/engine/define';
import { instantSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { ledgerCheckpoint } from './checkpoint.ts';

const findingSchema = z
  .object({
    kind: z
      .enum(['log', 'event', 'checkpoint', 'read_model'])
      .meta({ description: 'What is not as it was' }),
    place: z.string().meta({ description: 'Stream and revision, checkpoint, or table and row' }),
    problem: z.string(),
    found_at: instantSchema,
  })
  .meta({ id: 'LedgerVerificationFinding' });

export const verificationSchema = z
  .object({
    round: z.number().int().meta({ description: 'Number of the present walk through the log' }),
    verified_position: z.string().meta({
      description: 'Position that the present walk has come to',
    }),
    verified_at: instantSchema.nullable(),
    completed_position: z
      .string()
      .nullable()
      .meta({ description: 'Position of the last complete walk' }),
    completed_at: instantSchema.nullable(),
    findings: z.array(findingSchema).meta({
      description: 'What was found in this environment or its tenant, oldest first, at most 100',
    }),
    findings_total: z.number().int(),
  })
  .meta({ id: 'LedgerVerification' });
export type VerificationResource = z.output<typeof verificationSchema>;

/**
 * The progress of the verification, as a table with one row in each environment. No projector fills it: the
 * engine keeps it by itself, as a view.
 */
export const verificationView: Projection<
  'ledger_verification',
  VerificationResource,
  VerificationResource,
  Record<never, never>
> = {
  name: 'ledger_verification',
  version: 1,
  aggregates: [ledgerCheckpoint],
  columns: {},
  keys: () => [],
  fold: (row) => row,
  view: (row) => row,
};

/** Key of the one row. */
export const currentVerification = 'current';
