import {
  anyOfTexts,
  expandParameter,
  listShape,
  pageShape,
  searchShape,
  unused,
} from '@counterfoil/engine/define';
import {
  clearable,
  emailSchema,
  instantSchema,
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
  referenceSchema,
  requiredTextSchema,
  textSchema,
  timeZoneSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { addressInput, addressOutput } from '../address.ts';
import { type Role, roleFault, roleSchema, userTypeSchema } from './roles.ts';

const nameSchema = requiredTextSchema(255);

export const updateTenantSchema = z
  .object({
    name: nameSchema.optional(),
    metadata: metadataSchema.optional(),
    billing_details: z
      .object({
        email: clearable(emailSchema).optional(),
        help_email: clearable(emailSchema).optional(),
        phone: clearable(textSchema(50)).optional(),
        address: z.object(addressInput).optional(),
      })
      .optional(),
  })
  .meta({ id: 'UpdateTenant' });
export type UpdateTenant = z.output<typeof updateTenantSchema>;

export const tenantSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    status: recordStatusSchema,
    metadata: metadataSchema,
    billing_details: z.object({
      email: z.string().optional(),
      help_email: z.string().optional(),
      phone: z.string().optional(),
      address: z.object(addressOutput),
    }),
    created_at: instantSchema,
    updated_at: instantSchema,
  })
  .meta({ id: 'Tenant' });
export type Tenant = z.output<typeof tenantSchema>;

const { environment_id: _, ...tenantStampsShape } = recordStampsShape;

export const environmentTypeSchema = z.enum(['development', 'production']);
export type EnvironmentType = z.output<typeof environmentTypeSchema>;

export const createEnvironmentSchema = z
  .object({
    name: nameSchema,
    type: environmentTypeSchema,
    timezone: clearable(timeZoneSchema.or(z.literal(''))).optional(),
  })
  .meta({ id: 'CreateEnvironment' });

export const updateEnvironmentSchema = z
  .object({
    name: nameSchema.optional(),
    timezone: clearable(timeZoneSchema.or(z.literal(''))).optional(),
    type: unused,
  })
  .meta({ id: 'UpdateEnvironment' });

export const environmentSchema = z
  .object({
    ...tenantStampsShape,
    status: recordStatusSchema,
    name: z.string(),
    type: environmentTypeSchema,
    timezone: z
      .string()
      .optional()
      .meta({ description: 'The zone of customers that name none; absent: UTC' }),
  })
  .meta({ id: 'Environment' });
export type Environment = z.output<typeof environmentSchema>;

export const environmentListSchema = z.object(listShape);

/** A list of environments has a form of its own in the public contract. */
export const environmentsSchema = z
  .object({
    environments: z.array(environmentSchema),
    total: z.number().int(),
    offset: z.number().int(),
    limit: z.number().int(),
  })
  .meta({ id: 'Environments' });

const rolesSchema = z
  .array(roleSchema)
  .max(16)
  .transform((roles): readonly Role[] => [...new Set(roles)]);

export const createUserSchema = withConditions(
  z.object({
    type: userTypeSchema,
    email: clearable(emailSchema).optional(),
    name: clearable(textSchema(255)).optional(),
    roles: rolesSchema.default([]),
    metadata: metadataSchema.optional(),
  }),
  [
    { when: { type: 'user' }, needs: 'email', says: 'is required for a person' },
    {
      ...{ when: { type: 'service_account' }, lacks: 'email' },
      says: 'must be absent for a service account',
    },
    {
      ...{ when: { type: 'service_account' }, needs: 'roles' },
      says: 'must name a role: those of a service account never change',
    },
  ],
)
  .superRefine(({ type, roles }, context) => {
    const fault = roles.length > 0 && roleFault(type, roles);
    if (!fault) return;
    const path = fault.pointer.slice(1).split('/');
    context.addIssue({ code: 'custom', path, message: fault.message });
  })
  .meta({ id: 'CreateUser' });
export type CreateUser = z.output<typeof createUserSchema>;

export const changeRolesSchema = z.object({ roles: rolesSchema }).meta({ id: 'ChangeRoles' });

export const updateMeSchema = z
  .object({
    name: clearable(textSchema(255)).optional(),
    metadata: metadataSchema.optional(),
  })
  .meta({ id: 'UpdateMe' });

export const renameUserSchema = z.object({ name: nameSchema }).meta({ id: 'RenameUser' });

export const userSearchSchema = z
  .object({
    ...searchShape,
    roles: z.array(roleSchema).max(16).optional().meta({ description: 'Users with any of them' }),
    type: userTypeSchema.optional(),
    user_ids: anyOfTexts(64),
    expand: expandParameter([]),
  })
  .meta({ id: 'UserSearch' });

export const userSchema = z
  .object({
    ...tenantStampsShape,
    status: recordStatusSchema,
    type: userTypeSchema,
    email: z.string().meta({ description: 'Empty for service accounts' }),
    name: z.string().optional(),
    roles: z.array(roleSchema),
    metadata: metadataSchema,
    tenant: tenantSchema,
  })
  .meta({ id: 'User' });
export type User = z.output<typeof userSchema>;
export type UserWithoutTenant = Omit<User, 'tenant'>;

export const createApiKeySchema = z
  .object({
    name: nameSchema,
    type: z.literal('private_key', 'must be "private_key": there are no publishable keys'),
    expires_at: instantSchema.nullish(),
    service_account_id: referenceSchema('user').nullish(),
    environment_id: referenceSchema('env')
      .nullish()
      .meta({ description: 'Environment of the key; default: that of the call' }),
  })
  .meta({ id: 'CreateApiKey' });
export type CreateApiKey = z.output<typeof createApiKeySchema>;

export const apiKeyListSchema = z.object(listShape);

export const apiKeySchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    name: z.string(),
    type: z.literal('private_key'),
    display_id: z.string().meta({ description: 'Masked: first five and last two characters' }),
    user_id: z.string(),
    user_type: userTypeSchema,
    service_account_name: z.string().optional(),
    roles: z.array(roleSchema),
    expires_at: instantSchema.optional(),
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.output<typeof apiKeySchema>;

export const issuedKeySchema = z
  .object({
    secret: apiKeySchema,
    api_key: z.string().meta({ description: 'The whole key. It is stored nowhere: keep it safe' }),
  })
  .meta({ id: 'IssuedApiKey' });

export const roleListSchema = z.object({ user_type: userTypeSchema.optional() });

export const roleDefinitionSchema = z
  .object({
    id: roleSchema,
    name: z.string(),
    description: z.string(),
    user_types: z.array(userTypeSchema).meta({ description: 'Who may hold it' }),
    permissions: z
      .record(z.string(), z.array(z.string()))
      .meta({ description: 'Actions by resource; `*` stands for every one' }),
  })
  .meta({ id: 'Role' });

export const roleDefinitionsSchema = z
  .object({ roles: z.array(roleDefinitionSchema) })
  .meta({ id: 'Roles' });

export const operatorTenantSchema = z.object({ name: nameSchema }).meta({ id: 'CreateTenant' });

export const tenantListSchema = z.object(pageShape);

export const userListSchema = z.object({ ...listShape, type: userTypeSchema.optional() });

export const operatorKeySchema = z
  .object({
    name: nameSchema,
    user_id: referenceSchema('user'),
    expires_at: instantSchema.nullish(),
  })
  .meta({ id: 'CreateKeyOfUser' });
