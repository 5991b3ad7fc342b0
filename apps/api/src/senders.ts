import {
  connectNats,
  type HealthCheck,
  type HttpServer,
  type Log,
  type Metrics,
  type Module,
  type Nats,
  type SentFacts,
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

type SenderConfig = Pick<ApiConfig, 'NATS_URL' | 'EVENT_GATEWAY_URL' | 'COUNTERFOIL_SECRET_KEY'>;

/** The way in for systems outside. */
interface Senders {
  readonly health: readonly HealthCheck[];
  /** Takes what they send from now on. */
  readonly take: (tools: SenderTools) => void;
}

/** Opens the connection over which systems outside send through the event gateway. Without one nobody can. */
export async function connectSenders(
  started: Started,
  config: SenderConfig,
  log: Log,
): Promise<Senders> {
  const { NATS_URL: url, EVENT_GATEWAY_URL: gatewayUrl } = config;
  if (url === undefined || gatewayUrl === undefined) return { health: [], take: () => undefined };
  const nats = started.add(
    await connectNats({ url, name: 'counterfoil api, what is sent', log }),
    close,
  );
  return {
    health: [{ name: 'senders', required: false, check: nats.check }],
    take: (tools) => void started.add(takenFrom(nats, config, tools), close),
  };
}

const takenFrom = (
  nats: Nats,
  { COUNTERFOIL_SECRET_KEY }: SenderConfig,
  { slices, authentication, ...tools }: SenderTools,
): SentFacts =>
  takeSentFacts({
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
