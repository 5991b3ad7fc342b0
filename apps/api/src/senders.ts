import {
  connectNats,
  type HttpServer,
  type Log,
  type Metrics,
  type Module,
  type Started,
  takeSentFacts,
} from '@counterfoil/engine';
import type { EnvironmentId, KeyId, TenantId } from '@counterfoil/kernel';
import { secretsFrom } from '@counterfoil/modules';
import type { Authentication } from './authentication.ts';
import type { ApiConfig } from './config.ts';

interface SenderTools {
  readonly slices: readonly Module[];
  readonly server: HttpServer;
  readonly authentication: Authentication;
  readonly now: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
}

const close = (thing: { close(): Promise<void> }): Promise<void> => thing.close();

/** Takes what systems outside send through the event gateway, where there is one. */
export async function openSenders(
  started: Started,
  { NATS_URL: url, EVENT_GATEWAY_URL: gatewayUrl, COUNTERFOIL_SECRET_KEY }: ApiConfig,
  { slices, authentication, ...tools }: SenderTools,
): Promise<void> {
  if (url === undefined || gatewayUrl === undefined) return;
  const { log } = tools;
  const nats = started.add(
    await connectNats({ url, name: 'counterfoil api, what is sent', log }),
    close,
  );
  const sent = takeSentFacts({
    ...tools,
    nats,
    seed: secretsFrom(COUNTERFOIL_SECRET_KEY).gatewaySeed,
    intakes: slices.flatMap(({ facts = [] }) => facts.map(({ intake }) => intake)),
    callerOf: ({ tenantId, environmentId, keyId }) =>
      authentication.principalOf({
        tenantId: tenantId as TenantId,
        environmentId: environmentId as EnvironmentId,
        keyId: keyId as KeyId,
      }),
  });
  started.add(sent, close);
}
