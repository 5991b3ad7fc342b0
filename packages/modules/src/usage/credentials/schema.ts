import { type EventGateway, sendingSubject } from '@counterfoil/engine/define';
import {
  instantSchema,
  recordStampsShape,
  recordStatusSchema,
  referenceSchema,
  requiredTextSchema,
  withoutNulls,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { accessOf, type UsageCredentials } from './usage-credentials.ts';

/** Body of POST /usage/credentials. */
export const issueUsageCredentialsSchema = z
  .object({
    name: requiredTextSchema(128).meta({ example: 'Gateway of the models' }),
    expires_at: instantSchema
      .optional()
      .meta({ description: 'When NATS stops accepting them; never when absent' }),
  })
  .meta({ id: 'IssueUsageCredentials' });

/** Credentials as everybody may see them who may see keys. */
export const usageCredentialsSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    name: z.string(),
    key_id: referenceSchema('secret').meta({
      description: 'API key that they were issued for: they do what it may, as long as it counts',
    }),
    user_id: referenceSchema('user'),
    issued_at: instantSchema,
    expires_at: instantSchema.optional(),
    subject: z.string().meta({ description: 'The one subject to which they publish' }),
  })
  .meta({ id: 'UsageCredentials' });
type UsageCredentialsResource = z.output<typeof usageCredentialsSchema>;

/** Answer of POST /usage/credentials. */
export const issuedUsageCredentialsSchema = usageCredentialsSchema
  .extend({
    urls: z.array(z.string()).meta({
      description: 'Where they are accepted',
      example: ['nats://events.example.com:4222'],
    }),
    credentials: z.string().meta({
      description: 'Content of a .creds file for NATS clients. Shown here only.',
    }),
  })
  .meta({ id: 'IssuedUsageCredentials' });

/** The credentials without what is secret. */
export function usageCredentialsView(record: UsageCredentials): UsageCredentialsResource {
  const { intake, scope } = accessOf(record);
  return { ...withoutNulls(record), subject: sendingSubject(intake, scope) };
}

/** The credentials as the API shows them, once. */
export const issuedView = (record: UsageCredentials, gateway: EventGateway) => ({
  ...usageCredentialsView(record),
  urls: [...gateway.urls],
  credentials: gateway.credentialsOf(accessOf(record)),
});
