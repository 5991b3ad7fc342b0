import { type RequestContext, type Routes, route, withETag } from '@counterfoil/engine/define';
import { type DecimalText, instantSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { messageSchema } from '../message.ts';
import { refuseUnlessAdmin } from '../tenancy/index.ts';
import {
  changeSetting,
  resetSetting,
  type SettingState,
  setting,
  settingValue,
} from './setting.ts';
import { definitions, type SettingKey, type SettingValue } from './values.ts';

const common = { tag: 'Settings', status: 200 } as const;

/** A setting on the wire: the value that counts, whole, and who has set it. */
const answerOf = <const Key extends SettingKey, Value extends z.ZodType>(key: Key, value: Value) =>
  z.object({
    key: z.literal(key),
    value,
    is_default: z.boolean().meta({ description: 'Whether all members have their defaults' }),
    tenant_id: z.string(),
    environment_id: z.string(),
    updated_at: instantSchema.optional(),
    updated_by: z.string().optional(),
  });

/** Body of PUT /settings/{key}, with a schema of each key's own, so that a fault names its field. */
const updateOf = <Value extends z.ZodObject>(value: Value) => z.object({ value });

const invoiceConfig = definitions.invoice_config;
const invoiceConfigAnswer = answerOf('invoice_config', invoiceConfig.schema).meta({
  id: 'InvoiceConfigSetting',
});
const subscriptionConfig = definitions.subscription_config;
const subscriptionConfigAnswer = answerOf('subscription_config', subscriptionConfig.schema).meta({
  id: 'SubscriptionConfigSetting',
});

const bonusConfig = definitions.bonus_credits_topup_config;
const bonusConfigAnswer = answerOf('bonus_credits_topup_config', bonusConfig.schema).meta({
  id: 'BonusConfigSetting',
});

const taxConfig = definitions.tax_config;
const taxConfigAnswer = answerOf('tax_config', taxConfig.schema).meta({ id: 'TaxConfigSetting' });

function answered<const Key extends SettingKey>(
  { principal }: RequestContext,
  key: Key,
  state: SettingState,
) {
  const value: SettingValue<Key> = settingValue(key, state);
  return {
    key,
    value,
    is_default: Object.keys(state?.own ?? {}).length === 0,
    tenant_id: principal.tenantId,
    environment_id: principal.environmentId,
    ...(state && { updated_at: state.updated_at, updated_by: state.updated_by }),
  };
}

const read = async <const Key extends SettingKey>(context: RequestContext, key: Key) =>
  answered(context, key, await context.load(setting, key));

async function changed<const Key extends SettingKey>(
  context: RequestContext,
  key: Key,
  changes: Parameters<typeof changeSetting<Key>>[1],
) {
  refuseUnlessAdmin(context, 'change settings');
  const { state, revision } = await context.execute(setting, key, changeSetting(key, changes));
  return withETag(answered(context, key, state), revision);
}

async function reset(context: RequestContext, key: SettingKey) {
  refuseUnlessAdmin(context, 'change settings');
  await context.execute(setting, key, resetSetting());
  return { message: `The setting ${key} has its defaults again.` };
}

const changing = 'For a super_admin. Members that are left out stay as they are.';
const resetting = 'For a super_admin. All its members have their defaults again.';

export const settingRoutes = {
  'GET /settings/invoice_config': route({
    ...common,
    summary: `Get ${invoiceConfig.called}`,
    permission: 'setting:read',
    response: invoiceConfigAnswer,
    handle: (context) => read(context, 'invoice_config'),
  }),
  'PUT /settings/invoice_config': route({
    ...common,
    summary: `Set ${invoiceConfig.called}`,
    description: `${changing} What is final keeps its number and its dates.`,
    permission: 'setting:write',
    body: updateOf(invoiceConfig.schema.partial().meta({ id: 'InvoiceConfigChanges' })).meta({
      id: 'UpdateInvoiceConfig',
    }),
    response: invoiceConfigAnswer,
    example: { body: { value: { prefix: 'ACME', due_date_days: 14 } } },
    handle: (context, { body }) => changed(context, 'invoice_config', body.value),
  }),
  'DELETE /settings/invoice_config': route({
    ...common,
    summary: `Reset ${invoiceConfig.called}`,
    description: resetting,
    permission: 'setting:write',
    response: messageSchema,
    handle: (context) => reset(context, 'invoice_config'),
  }),

  'GET /settings/subscription_config': route({
    ...common,
    summary: `Get ${subscriptionConfig.called}`,
    permission: 'setting:read',
    response: subscriptionConfigAnswer,
    handle: (context) => read(context, 'subscription_config'),
  }),
  'PUT /settings/subscription_config': route({
    ...common,
    summary: `Set ${subscriptionConfig.called}`,
    description: changing,
    permission: 'setting:write',
    body: updateOf(
      subscriptionConfig.schema.partial().meta({ id: 'SubscriptionConfigChanges' }),
    ).meta({ id: 'UpdateSubscriptionConfig' }),
    response: subscriptionConfigAnswer,
    example: { body: { value: { grace_period_days: 5 } } },
    handle: (context, { body }) => changed(context, 'subscription_config', body.value),
  }),
  'DELETE /settings/subscription_config': route({
    ...common,
    summary: `Reset ${subscriptionConfig.called}`,
    description: resetting,
    permission: 'setting:write',
    response: messageSchema,
    handle: (context) => reset(context, 'subscription_config'),
  }),

  'GET /settings/bonus_credits_topup_config': route({
    ...common,
    summary: `Get ${bonusConfig.called}`,
    permission: 'setting:read',
    response: bonusConfigAnswer,
    handle: (context) => read(context, 'bonus_credits_topup_config'),
  }),
  'PUT /settings/bonus_credits_topup_config': route({
    ...common,
    summary: `Set ${bonusConfig.called}`,
    description: `${changing} What was ordered keeps the bonus that it was ordered with.`,
    permission: 'setting:write',
    body: updateOf(bonusConfig.schema.partial().meta({ id: 'BonusConfigChanges' })).meta({
      id: 'UpdateBonusConfig',
    }),
    response: bonusConfigAnswer,
    example: {
      body: {
        value: {
          enabled: true,
          slabs: [
            {
              threshold: '1000' as DecimalText,
              type: 'percentage',
              value: '10' as DecimalText,
              expiry_days: 90,
            },
          ],
        },
      },
    },
    handle: (context, { body }) => changed(context, 'bonus_credits_topup_config', body.value),
  }),
  'DELETE /settings/bonus_credits_topup_config': route({
    ...common,
    summary: `Reset ${bonusConfig.called}`,
    description: resetting,
    permission: 'setting:write',
    response: messageSchema,
    handle: (context) => reset(context, 'bonus_credits_topup_config'),
  }),

  'GET /settings/tax_config': route({
    ...common,
    summary: `Get ${taxConfig.called}`,
    permission: 'setting:read',
    response: taxConfigAnswer,
    handle: (context) => read(context, 'tax_config'),
  }),
  'PUT /settings/tax_config': route({
    ...common,
    summary: `Set ${taxConfig.called}`,
    description: `${changing} Prices that were made before stay as they are.`,
    permission: 'setting:write',
    body: updateOf(taxConfig.schema.partial().meta({ id: 'TaxConfigChanges' })).meta({
      id: 'UpdateTaxConfig',
    }),
    response: taxConfigAnswer,
    example: { body: { value: { default_behavior: 'inclusive' } } },
    handle: (context, { body }) => changed(context, 'tax_config', body.value),
  }),
  'DELETE /settings/tax_config': route({
    ...common,
    summary: `Reset ${taxConfig.called}`,
    description: resetting,
    permission: 'setting:write',
    response: messageSchema,
    handle: (context) => reset(context, 'tax_config'),
  }),
} satisfies Routes;
