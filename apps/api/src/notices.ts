import { type Notice, type Streams, type TakeNotice, workContext } from '@counterfoil/engine';
import { type EnvironmentId, notFound, type TenantId } from '@counterfoil/kernel';
import {
  type Directory,
  type PaymentProvider,
  type Secrets,
  takeStripeNotice,
} from '@counterfoil/modules';
import type { ApiConfig } from './config.ts';

interface NoticeTools {
  readonly config: Pick<ApiConfig, 'STRIPE_API_URL'>;
  readonly provider: PaymentProvider | null;
  readonly directory: Pick<Directory, 'hasEnvironment'>;
  readonly secrets: Pick<Secrets, 'sealer'>;
  readonly streams: Streams;
}

/** The messages that other systems send without an API key: those of the payment provider, where one is switched on. */
export function noticesOf({
  config: { STRIPE_API_URL: apiUrl },
  provider,
  directory,
  secrets: { sealer },
  streams,
}: NoticeTools): Readonly<Record<`/${string}`, TakeNotice>> {
  if (!provider) return {};
  const take = async ({ parameters, header, bytes, requestId }: Notice): Promise<void> => {
    const { tenant_id = '', environment_id = '' } = parameters;
    if (!directory.hasEnvironment(tenant_id, environment_id)) {
      throw notFound('environment', environment_id);
    }
    const place = {
      tenantId: tenant_id as TenantId,
      environmentId: environment_id as EnvironmentId,
      correlationId: requestId,
    };
    const notice = { bytes, signature: header('stripe-signature') };
    await takeStripeNotice(workContext(streams, place), notice, provider, { sealer, apiUrl });
  };
  return { '/v1/webhooks/stripe/:tenant_id/:environment_id': take };
}
