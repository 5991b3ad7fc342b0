import type { RequestContext } from '@counterfoil/engine/define';
import { referredRecord } from '../references.ts';
import { type FeatureRecord, feature } from './feature.ts';

/**
 * The feature that a field of a request names, from the log and so never behind. Unknown: 404
 * naming the field; archived: 400.
 */
export const featureReference = (
  context: RequestContext,
  id: string,
  field = 'feature_id',
): Promise<FeatureRecord> => referredRecord(context, feature, { id, what: 'feature', field });
