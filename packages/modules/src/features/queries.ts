import { type RequestContext, where } from '@counterfoil/engine/define';
import type { MeterId } from '@counterfoil/kernel';
import { embedded } from './embedding.ts';
import { featureRecords } from './feature.ts';
import type { Feature } from './schema.ts';

/**
 * Features by id with meters and groups, archived ones included, for records that show them inside.
 */
export async function featuresById(
  context: RequestContext,
  ids: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, Feature>> {
  const found = await featureRecords.byIds(context, ids);
  const shown = await embedded(context, [...found.values()]);
  return new Map(shown.map((each) => [each.id, each]));
}

/** Tells whether a published feature other than `except` uses a meter. */
export async function isMeterShared(
  context: Pick<RequestContext, 'read'>,
  meterId: MeterId,
  except: string,
): Promise<boolean> {
  const page = { limit: 2, offset: 0 };
  const uses = where('meter_id', 'eq', meterId);
  const { items } = await context.read.list(featureRecords.table, page, uses);
  return items.some(({ id }) => id !== except);
}
