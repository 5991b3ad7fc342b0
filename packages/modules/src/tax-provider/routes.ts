import { type Routes, route } from '@counterfoil/engine/define';
import { instantSchema, invalidField } from '@counterfoil/kernel';
import { checkTargetUrl, isSecret, type Sealer, type TargetPolicy } from '@counterfoil/webhooks';
import { z } from 'zod';
import { refuseUnlessAdmin } from '../tenancy/index.ts';
import {
  removeTaxProvider,
  sealingContext,
  setTaxProvider,
  type TaxProviderState,
  taxProvider,
  taxProviderId,
} from './account.ts';

const tag = 'Taxes';

/** Body of PUT /taxes/provider. */
const setTaxProviderSchema = z
  .object({
    url: z.string().max(2_048).meta({
      description: 'Address that is asked, by https, by the same rules as webhook endpoints',
    }),
    secret: z
      .string()
      .refine(isSecret, 'must be "whsec_" followed by 24 to 64 bytes in base64')
      .meta({ description: 'Secret by which questions are signed; it is never shown again' }),
    is_on: z.boolean().default(false).meta({
      description: 'Whether it is asked; until then taxes follow from the rates of the environment',
    }),
  })
  .meta({ id: 'SetTaxProvider' });

/** The tax provider of the environment on the wire, without its secret. */
const taxProviderSchema = z
  .object({
    is_set: z.boolean().meta({ description: 'Whether the environment has a provider' }),
    is_on: z.boolean().meta({ description: 'Whether it works out the taxes of invoices' }),
    url: z.string().nullable(),
    updated_at: instantSchema.nullable(),
  })
  .meta({ id: 'TaxProvider' });

const shown = (state: TaxProviderState): z.output<typeof taxProviderSchema> => ({
  is_set: state?.address != null,
  is_on: state?.address?.is_on ?? false,
  url: state?.address?.url ?? null,
  updated_at: state?.updated_at ?? null,
});

/** The parts that the routes need from outside. */
export interface TaxProviderRoutesOptions {
  readonly sealer: Pick<Sealer, 'seal'>;
  readonly policy: TargetPolicy;
}

/** The server of a tenant that works out the taxes of the invoices of an environment. */
export const taxProviderRoutes = ({ sealer, policy }: TaxProviderRoutesOptions) =>
  ({
    'GET /taxes/provider': route({
      operationId: 'getTaxProvider',
      summary: 'Get the tax provider of the environment',
      description: 'Without its secret.',
      tag,
      status: 200,
      permission: 'tax:read',
      response: taxProviderSchema,
      handle: async (context) => shown(await context.load(taxProvider, taxProviderId)),
    }),

    'PUT /taxes/provider': route({
      operationId: 'setTaxProvider',
      summary: 'Have the taxes of invoices worked out by a server of your own',
      description:
        'For a super_admin. Where it is on, each invoice that is computed from then on has the taxes that this address answers with, in place of the rates of the environment; it stays a draft while there is no answer.',
      tag,
      status: 200,
      permission: 'tax:write',
      body: setTaxProviderSchema,
      response: taxProviderSchema,
      example: {
        body: {
          url: 'https://taxes.example.com/calculate',
          secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
          is_on: false,
        },
      },
      handle: async (context, { body: { url, secret, is_on } }) => {
        refuseUnlessAdmin(context, 'set the tax provider');
        const checked = checkTargetUrl(url, policy);
        if ('refusal' in checked) throw invalidField('/url', checked.refusal);
        const { environmentId } = context.principal;
        const { state } = await context.execute(taxProvider, taxProviderId, {
          prepare: () =>
            setTaxProvider({
              url: checked.url,
              is_on,
              secret: sealer.seal(secret, sealingContext(environmentId)),
            }),
        });
        return shown(state);
      },
    }),

    'DELETE /taxes/provider': route({
      operationId: 'removeTaxProvider',
      summary: 'Have the taxes of invoices follow from the rates of the environment again',
      description:
        'For a super_admin. Drafts that wait for the provider are made final without it.',
      tag,
      status: 200,
      permission: 'tax:write',
      response: taxProviderSchema,
      handle: async (context) => {
        refuseUnlessAdmin(context, 'take the tax provider away');
        const { state } = await context.execute(taxProvider, taxProviderId, removeTaxProvider());
        return shown(state);
      },
    }),
  }) satisfies Routes;
