import { clearable, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { maximumHeirs } from './family.ts';

const externalIds = z.array(z.string().min(1).max(255)).max(maximumHeirs).nullish();

/** The others that a new subscription has to do with (specification §11.2, E 10.9). */
export const inheritanceSchema = z
  .object({
    external_customer_ids_to_inherit_subscription: externalIds.meta({
      description: 'Customers who have what it grants, and whose usage counts for it',
    }),
    invoicing_customer_external_id: clearable(z.string().max(255))
      .optional()
      .meta({ description: 'The customer who pays; default: the own one' }),
    parent_subscription_id: clearable(z.string().max(64))
      .optional()
      .meta({ description: 'Invoiced with that one' }),
    subscriptions_ids_for_grouped_invoicing: z
      .array(z.string().min(1).max(64))
      .max(maximumHeirs)
      .nullish()
      .meta({ description: 'Invoiced with this one' }),
    grouped_invoicing_children_to_create: z
      .array(z.unknown())
      .max(0, 'is not supported yet: leave it out')
      .nullish(),
  })
  .meta({ id: 'SubscriptionInheritance' });
export type Inheritance = z.output<typeof inheritanceSchema>;

/** The members of a modification of those who inherit a subscription. */
export const inheritanceParamsSchema = z
  .object({
    action: z.enum(['add', 'remove']).nullish().meta({ description: 'Needs the ids of its kind' }),
    external_customer_ids_to_inherit_subscription: externalIds.meta({
      description: 'Begin to inherit it',
    }),
    external_customer_ids_to_remove: externalIds.meta({ description: 'Cease to inherit it' }),
  })
  .meta({ id: 'InheritanceParams' });
export type InheritanceParams = z.output<typeof inheritanceParamsSchema>;

/** The members of a modification of what is invoiced with a subscription. */
export const groupedInvoicingParamsSchema = z
  .object({
    action: z.enum(['add', 'remove']),
    parent_subscription_id: z
      .string()
      .max(64)
      .nullish()
      .meta({ description: 'That of the path, which is the default' }),
    child_subscription_ids: z.array(referenceSchema('subs')).min(1).max(maximumHeirs),
  })
  .meta({ id: 'GroupedInvoicingParams' });
export type GroupedInvoicingParams = z.output<typeof groupedInvoicingParamsSchema>;
