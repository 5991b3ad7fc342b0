import {
  listed,
  newText,
  ofTable,
  type Prepared,
  pageSchema,
  type Quota,
  type RequestContext,
  refuseBeyondListed,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { canonicalJson, invalidField, notFound, withChanges } from '@counterfoil/kernel';
import type { WebhookOptions } from '../options.ts';
import { endpointTable } from '../projection.ts';
import { checkTargetUrl, type TargetPolicy } from '../sending/target-policy.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  requireEndpoint,
} from './decisions.ts';
import {
  type EndpointDecision,
  type SealedHeaders,
  sealingContext,
  webhookEndpoint,
} from './endpoint.ts';
import type { EndpointHeaders } from './headers.ts';
import {
  type ChangeEndpoint,
  type CreateEndpoint,
  createdEndpointSchema,
  type EndpointBodies,
  endpointBodies,
  endpointDefaults,
  endpointListSchema,
  endpointPathSchema,
  endpointResource,
  endpointSchema,
} from './schema.ts';
import type { Sealer } from './sealing.ts';
import { drawSecret, openSecret, secretRoutes } from './secret-routes.ts';

const tag = 'Webhooks';

const checkedUrl = (url: string, policy: TargetPolicy): string => {
  const checked = checkTargetUrl(url, policy);
  if ('refusal' in checked) throw invalidField('/url', checked.refusal);
  return checked.url;
};

const sealHeaders = (
  sealer: Sealer,
  id: string,
  headers: EndpointHeaders | null,
): SealedHeaders | null =>
  headers === null || Object.keys(headers).length === 0
    ? null
    : {
        names: Object.keys(headers).sort(),
        sealed: sealer.seal(canonicalJson(headers), sealingContext(id, 'headers')),
      };

const quotaOf = (most: number): Quota => ({
  most,
  noun: 'webhook endpoints in this environment',
  remedy: 'Delete one first.',
});

/**
 * The decision that creates an endpoint. The secret is drawn here, where a repeated request does
 * not come, and answered from the event, so that a repetition shows the first one's secret.
 */
async function creation(
  context: RequestContext,
  { sealer, policy, maximumEndpoints }: WebhookOptions,
  id: string,
  body: CreateEndpoint,
): Promise<EndpointDecision> {
  const url = checkedUrl(body.url, policy);
  await refuseBeyondListed(context, endpointTable, quotaOf(maximumEndpoints));
  const { secret: brought, headers, ...given } = body;
  const settings = withChanges(endpointDefaults, given);
  const secret = drawSecret(settings.signature, brought);
  return createEndpoint({
    id,
    ...settings,
    url,
    headers: sealHeaders(sealer, id, headers ?? null),
    secret: sealer.seal(secret, sealingContext(id, 'secret')),
  });
}

function change(
  { sealer, policy }: WebhookOptions,
  id: string,
  body: ChangeEndpoint,
): EndpointDecision {
  const url = body.url === undefined ? undefined : checkedUrl(body.url, policy);
  const headers = body.headers === undefined ? undefined : sealHeaders(sealer, id, body.headers);
  const isSameHeaders = (current: SealedHeaders | null): boolean => {
    if (!current || !headers) return current === (headers ?? null);
    const context = sealingContext(id, 'headers');
    return sealer.open(current.sealed, context) === sealer.open(headers.sealed, context);
  };
  return changeEndpoint(id, { ...body, url, headers }, isSameHeaders);
}

/** Runs a decision on an endpoint and returns the endpoint as it is afterwards. */
async function decide(context: RequestContext, id: string, decision: Prepared<EndpointDecision>) {
  const outcome = await context.execute(webhookEndpoint, id, decision);
  return withETag(endpointResource(requireEndpoint(outcome.state, id)), outcome.revision);
}

const switchRoutes = {
  'POST /webhooks/endpoints/{id}/enable': route({
    summary: 'Enable a webhook endpoint',
    description: 'Events that happened while it was disabled can be recovered.',
    tag,
    status: 200,
    permission: 'webhook:write',
    params: endpointPathSchema,
    response: endpointSchema,
    handle: (context, { params: { id } }) => decide(context, id, enableEndpoint(id)),
  }),
  'POST /webhooks/endpoints/{id}/disable': route({
    summary: 'Disable a webhook endpoint',
    description: 'What is waiting for delivery is skipped.',
    tag,
    status: 200,
    permission: 'webhook:write',
    params: endpointPathSchema,
    response: endpointSchema,
    handle: (context, { params: { id } }) => decide(context, id, disableEndpoint(id, 'by_request')),
  }),
};

const readRoutes = {
  'GET /webhooks/endpoints': route({
    summary: 'List webhook endpoints',
    tag,
    status: 200,
    permission: 'webhook:read',
    query: ofTable(endpointTable, endpointListSchema),
    response: pageSchema(endpointSchema),
    handle: (context, { query }) => listed(context, endpointTable, query),
  }),
  'GET /webhooks/endpoints/{id}': route({
    summary: 'Get a webhook endpoint',
    tag,
    status: 200,
    permission: 'webhook:read',
    params: endpointPathSchema,
    response: endpointSchema,
    handle: async (context, { params: { id } }) => {
      const found = await context.read.find(endpointTable, id);
      if (!found) throw notFound('webhook endpoint', id);
      return withETag(found.resource, found.revision);
    },
  }),
};

/** PUT and PATCH are the same: neither clears a field that is left out. */
const changeRoute = (options: WebhookOptions, body: EndpointBodies['change']) =>
  route({
    summary: 'Change a webhook endpoint',
    description: 'Headers are replaced as a whole.',
    tag,
    status: 200,
    permission: 'webhook:write',
    params: endpointPathSchema,
    body,
    response: endpointSchema,
    example: { body: { description: newText('For the ledger') } },
    handle: (context, { params: { id }, body }) =>
      decide(context, id, { prepare: () => change(options, id, body) }),
  });

const writeRoutes = (
  options: WebhookOptions,
  { creation: created, change: changed }: EndpointBodies,
) => ({
  'POST /webhooks/endpoints': route({
    summary: 'Create a webhook endpoint',
    description: 'It receives the events that happen from now on. The answer shows its secret.',
    tag,
    status: 201,
    permission: 'webhook:write',
    body: created,
    response: createdEndpointSchema,
    example: {
      body: { url: newText('https://example.com/hooks'), event_types: ['credit_note.updated'] },
      makes: 'webhook',
    },
    handle: async (context, { body }) => {
      const id = context.newId('webhook');
      const { state, revision } = await context.execute(webhookEndpoint, id, {
        prepare: () => creation(context, options, id, body),
      });
      const endpoint = requireEndpoint(state, id);
      const secret = openSecret(options.sealer, endpoint);
      return withETag({ ...endpointResource(endpoint), ...secret }, revision);
    },
  }),
  'PUT /webhooks/endpoints/{id}': changeRoute(options, changed),
  'PATCH /webhooks/endpoints/{id}': changeRoute(options, changed),
  'DELETE /webhooks/endpoints/{id}': route({
    summary: 'Delete a webhook endpoint',
    description: 'What is waiting for delivery is cancelled.',
    tag,
    status: 204,
    permission: 'webhook:write',
    params: endpointPathSchema,
    handle: async (context, { params: { id } }) => {
      await context.execute(webhookEndpoint, id, deleteEndpoint(id));
      return undefined;
    },
  }),
});

/** The routes of webhook endpoints themselves. */
export const endpointRoutes = (options: WebhookOptions, offered: ReadonlySet<string>) => ({
  ...writeRoutes(options, endpointBodies(offered)),
  ...readRoutes,
  ...secretRoutes(options),
  ...switchRoutes,
});
