import { flagParameter } from '@counterfoil/engine/define';
import { z } from 'zod';
import { type Grouping, groupingsMaximum, groupingsOf } from '../../usage/index.ts';

const partShape = {
  usage: z.string().meta({ description: 'What was counted' }),
  cost: z.string().meta({ description: 'Its share of the amount of the line' }),
  percentage: z.string().meta({ description: 'Its share, of a hundred' }),
  event_count: z.number().int().meta({ description: 'Number of events' }),
} as const;

/** The usage of a line from one source (E 27). */
export const usageOfSourceSchema = z
  .object({ source: z.string().meta({ description: 'Source of the events' }), ...partShape })
  .meta({ id: 'InvoiceLineUsageOfSource' });

/** The usage of a line in one group (E 27). */
export const usageOfGroupSchema = z
  .object({
    grouped_by: z
      .record(z.string(), z.string())
      .meta({ description: 'The value by which each was grouped' }),
    ...partShape,
  })
  .meta({ id: 'InvoiceLineUsageOfGroup' });

const nameMaximum = 1_000;

/** The groups that are asked for, such as `source,properties.model`. */
const groupByParameter = z
  .string()
  .max(nameMaximum)
  .transform((text) => text.split(',').filter((name) => name !== ''))
  .pipe(
    z
      .array(z.string().regex(/^(source|properties\..+)$/, 'must be source, or properties.NAME'))
      .max(groupingsMaximum),
  )
  .optional()
  .meta({
    description:
      'Breaks the usage of lines down by `source`, or `properties.NAME`; several with commas',
  });

/** Parameters of GET /invoices/{id} that ask for the usage of lines. */
export const lineUsageParameters = {
  expand_by_source: flagParameter
    .optional()
    .meta({ description: 'Whether the usage of lines is told by its source' }),
  group_by: groupByParameter,
} as const;

/** A request for the usage of lines. */
export interface AskedLineUsage {
  readonly expand_by_source?: boolean | undefined;
  readonly group_by?: readonly string[] | undefined;
}

export const asksForUsage = ({
  expand_by_source = false,
  group_by = [],
}: AskedLineUsage): boolean => expand_by_source || group_by.length > 0;

export const groupingsIn = ({ group_by = [] }: AskedLineUsage): readonly Grouping[] =>
  groupingsOf(group_by);
