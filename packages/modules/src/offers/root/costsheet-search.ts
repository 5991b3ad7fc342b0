import { ofTable, type Page, pageShape, type RequestContext } from '@counterfoil/engine/define';
import { instantSchema, recordStatusSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { accepted, equalTo, oneOf } from '../../record/index.ts';
import { costsheetTable } from '../projection.ts';
import { expandCostsheet } from './queries.ts';
import type { Costsheet } from './schema.ts';

/** The page as the client contract asks for it here: in a member of its own. */
const queryFilterSchema = ofTable(
  costsheetTable,
  z.object({
    limit: pageShape.limit.unwrap().optional(),
    offset: pageShape.offset.unwrap().optional(),
    order: z.enum(['asc', 'desc']).optional(),
    sort: z.string().optional(),
    status: recordStatusSchema.optional(),
    expand: expandCostsheet,
  }),
);

const timeRangeSchema = z.object({
  start_time: instantSchema.optional(),
  end_time: instantSchema.optional(),
});

const placeSchema = z.string().max(64).optional();

/** The filters of POST /costs/search; the odd names are those of the client contract (specification §10.2). */
export const costsheetFilters = {
  name: equalTo('name', z.string().max(255)),
  lookupKey: equalTo('lookup_key', z.string().max(255)),
  costsheetIDs: oneOf('id', 64),
  expand: accepted(expandCostsheet),
  environmentID: accepted(
    placeSchema.meta({ description: 'Another than that of the key finds nothing' }),
  ),
  tenantID: accepted(
    placeSchema.meta({ description: 'Another than that of the key finds nothing' }),
  ),
  queryFilter: accepted(
    queryFilterSchema.optional().meta({ description: 'The same as beside it, which gives way' }),
  ),
  timeRangeFilter: accepted(
    timeRangeSchema.optional().meta({ description: 'The same as beside it, which gives way' }),
  ),
} as const;

/** The parts of a search that only costsheets have. */
interface Nested {
  readonly limit: number;
  readonly offset: number;
  readonly environmentID?: string | undefined;
  readonly tenantID?: string | undefined;
  readonly queryFilter?: z.output<typeof queryFilterSchema> | undefined;
  readonly timeRangeFilter?: z.output<typeof timeRangeSchema> | undefined;
}

/** The search with its page and its period where those of all other records are. */
export const flattened = <Body extends Nested>(body: Body): Body => ({
  ...body,
  ...body.queryFilter,
  ...body.timeRangeFilter,
});

/** The empty page of a search in another tenant or environment; null for one in the caller's own. */
export function nothingElsewhere(
  { principal }: RequestContext,
  { limit, offset, tenantID, environmentID }: Nested,
): Page<Costsheet> | null {
  const { tenantId, environmentId } = principal;
  const isHere = (tenantID ?? tenantId) === tenantId;
  if (isHere && (environmentID ?? environmentId) === environmentId) return null;
  return { items: [], pagination: { limit, offset, total: 0 } };
}
