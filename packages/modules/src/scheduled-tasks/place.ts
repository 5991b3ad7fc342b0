import { invalidField } from '@counterfoil/kernel';
import { checkTargetUrl, type TargetPolicy } from '@counterfoil/webhooks';
import type { ProviderType } from '../connections/index.ts';
import type { GivenJobConfig } from './job-config.ts';

/**
 * Throws 400 naming the field of `job_config` where a place does not fit the kind of storage, or is an address to which nothing may
 * go (E 23.1, D83).
 */
export function assertPlace(
  provider: ProviderType,
  { region, endpoint_url }: Pick<GivenJobConfig, 'region' | 'endpoint_url'>,
  policy: TargetPolicy,
): void {
  if (provider === 's3' && region === null) {
    throw invalidField('/job_config/region', 'is required for an S3 connection');
  }
  if (endpoint_url === null) return;
  if (provider !== 's3') {
    throw invalidField('/job_config/endpoint_url', 'must be left out: a folder has none');
  }
  const checked = checkTargetUrl(endpoint_url, policy);
  if ('refusal' in checked) throw invalidField('/job_config/endpoint_url', checked.refusal);
}
