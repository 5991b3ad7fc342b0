import type { RequestContext } from '@counterfoil/engine/define';
import { referredRecord } from '../references.ts';
import { type MeterRecord, meter } from './meter.ts';

/**
 * The meter that a field of a request names, from the log and so never behind. Unknown: 404 naming
 * the field; stopped: 400.
 */
export const meterReference = (
  context: RequestContext,
  id: string,
  field = 'meter_id',
): Promise<MeterRecord> => referredRecord(context, meter, { id, what: 'meter', field });
