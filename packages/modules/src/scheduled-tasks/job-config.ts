import { requiredTextSchema, textSchema, withConditions } from '@counterfoil/kernel';
import { z } from 'zod';
import { encryptions, exportFormats, windowedBy } from './values.ts';

/** A name of a bucket as S3 takes it, which is also one of a folder. */
const bucketSchema = z
  .string()
  .min(3)
  .max(63)
  .regex(
    /^[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)*$/,
    'must have small letters, digits, - and single dots only',
  )
  .regex(/[a-z0-9]$/, 'must end with a small letter or a digit');

const isPath = (text: string): boolean =>
  text.split('/').every((part) => part !== '' && part !== '.' && part !== '..');

/** The beginning of all keys, without slashes at its ends, which would make empty folders. */
const prefixSchema = textSchema(512)
  .transform((text) => text.replace(/^\/+|\/+$/g, ''))
  .refine(
    (text) => text === '' || isPath(text),
    'must consist of names with single slashes between',
  )
  .refine(
    (text) => /^[\w\-./=+@ ]*$/.test(text),
    'may have letters, digits and - _ . / = + @ only',
  );

/** A field of the metadata of customers or wallets that gets a column of its own (E 23.1). */
const metadataFieldSchema = z
  .object({
    entity_type: z.enum(['customer', 'wallet']),
    field_key: requiredTextSchema(64),
    column_name: requiredTextSchema(64).nullish(),
  })
  .transform(({ column_name, ...field }) => ({
    ...field,
    column_name: column_name ?? field.field_key,
  }));

/** The place and the form of an export, as a request says it (specification §2.24; E 23.1; D79). */
export const jobConfigSchema = withConditions(
  z.object({
    bucket: bucketSchema,
    region: z
      .string()
      .regex(/^[a-z0-9-]{1,64}$/, 'must be a region such as "eu-central-1"')
      .nullish()
      .transform((given) => given ?? null),
    key_prefix: prefixSchema.default(''),
    endpoint_url: textSchema(2048)
      .nullish()
      .transform((given) => given || null),
    use_path_style: z.boolean().default(false),
    compression: z.enum(['none', 'gzip']).optional(),
    encryption: z
      .enum(encryptions)
      .nullish()
      .transform((given) => given ?? null),
    format: z.enum(exportFormats).default('csv'),
    window_by: z.enum(windowedBy).default('recorded'),
    export_metadata_fields: z
      .array(metadataFieldSchema.meta({ id: 'ExportMetadataField' }))
      .max(50)
      .default([]),
  }),
  [
    {
      limits: 'compression',
      to: ['none'],
      when: { format: 'parquet' },
      says: 'must be left out: a Parquet file is compressed inside',
    },
  ],
).meta({ id: 'CreateS3JobConfig' });
export type GivenJobConfig = z.output<typeof jobConfigSchema>;

/** The same with everything said, as events keep it and answers show it. */
export const keptJobConfigSchema = z
  .object({
    bucket: z.string(),
    region: z.string().nullable(),
    key_prefix: z.string(),
    endpoint_url: z.string().nullable(),
    use_path_style: z.boolean(),
    compression: z.enum(['none', 'gzip']),
    encryption: z.enum(encryptions),
    format: z.enum(exportFormats),
    window_by: z.enum(windowedBy),
    export_metadata_fields: z.array(
      z
        .object({
          entity_type: z.enum(['customer', 'wallet']),
          field_key: z.string(),
          column_name: z.string(),
        })
        .meta({ id: 'ExportMetadataColumn' }),
    ),
  })
  .meta({ id: 'S3JobConfig' });
export type JobConfig = z.output<typeof keptJobConfigSchema>;

/** The configuration with what it leaves out: lines of JSON are compressed unless it says otherwise. */
export const wholeJobConfig = ({
  compression,
  encryption,
  ...given
}: GivenJobConfig): JobConfig => ({
  ...given,
  compression: compression ?? (given.format === 'ndjson' ? 'gzip' : 'none'),
  encryption: encryption ?? 'AES256',
});
