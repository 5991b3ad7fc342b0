import { randomBytes } from 'node:crypto';
import { route, withETag } from '@counterfoil/engine/define';
import { invalidField } from '@counterfoil/kernel';
import type { WebhookOptions } from '../options.ts';
import { loadEndpoint, requireEndpoint, rotateSecret } from './decisions.ts';
import {
  type Endpoint,
  type EndpointDecision,
  type SignatureKind,
  sealingContext,
  webhookEndpoint,
} from './endpoint.ts';
import {
  endpointPathSchema,
  type RotateSecret,
  rotateSecretSchema,
  type SecretAnswer,
  secretAnswerSchema,
} from './schema.ts';
import type { Sealer } from './sealing.ts';
import { privateKeyText, publicKeyText, secretEntropyBytes, secretOf } from './secret.ts';

const tag = 'Webhooks';

/** Returns what the receiver needs to check signatures. */
export function openSecret(sealer: Sealer, endpoint: Endpoint): SecretAnswer {
  const secret = sealer.open(endpoint.secret, sealingContext(endpoint.id, 'secret'));
  const public_key = publicKeyText(secret);
  return public_key === null ? { secret } : { public_key };
}

/**
 * The secret that the caller brings, or a new one. Private keys are made here alone: 400 when one
 * is brought.
 */
export function drawSecret(kind: SignatureKind, given: string | undefined): string {
  switch (kind) {
    case 'hmac':
      return given ?? secretOf(randomBytes(secretEntropyBytes));
    case 'ed25519':
      if (given === undefined) return privateKeyText(randomBytes(secretEntropyBytes));
      throw invalidField('/secret', 'must be left out with signature ed25519');
    default:
      return kind satisfies never;
  }
}

function rotation(
  { sealer }: WebhookOptions,
  endpoint: Endpoint,
  { grace_seconds, signature = endpoint.signature, secret }: RotateSecret,
): EndpointDecision {
  const { id } = endpoint;
  const sealed = sealer.seal(drawSecret(signature, secret), sealingContext(id, 'secret'));
  return rotateSecret(id, { secret: sealed, signature, graceSeconds: grace_seconds });
}

/** Reading secrets lets one forge deliveries, so it needs the right to write. */
export const secretRoutes = (options: WebhookOptions) => ({
  'GET /webhooks/endpoints/{id}/secret': route({
    summary: 'Get the signing secret of a webhook endpoint',
    description: 'With signature ed25519: the public key.',
    tag,
    status: 200,
    permission: 'webhook:write',
    params: endpointPathSchema,
    response: secretAnswerSchema,
    handle: async (context, { params: { id } }) => {
      return openSecret(options.sealer, await loadEndpoint(context, id));
    },
  }),
  'POST /webhooks/endpoints/{id}/secret/rotate': route({
    summary: 'Put another signing secret in the place of the current one',
    description: 'During the grace period deliveries carry a signature by each of them.',
    tag,
    status: 200,
    permission: 'webhook:write',
    params: endpointPathSchema,
    body: rotateSecretSchema,
    bodyOptional: true,
    example: { body: { grace_seconds: 3600 } },
    response: secretAnswerSchema,
    handle: async (context, { params: { id }, body }) => {
      const { state, revision } = await context.execute(webhookEndpoint, id, {
        prepare: async () => rotation(options, await loadEndpoint(context, id), body),
      });
      return withETag(openSecret(options.sealer, requireEndpoint(state, id)), revision);
    },
  }),
});
