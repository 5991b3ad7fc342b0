import type { Instant, Span } from '@counterfoil/kernel';
import type { Aggregation } from '../../meters/index.ts';
import type { PropertyFilters } from '../aggregation/measure.ts';
import type { UsageOf } from '../usage-of.ts';

/** The part of an event by whose values usage is told apart. */
export type Grouping =
  | { readonly kind: 'source' }
  | { readonly kind: 'property'; readonly name: string };

/** A question about usage in groups. */
export interface BreakdownQuestion {
  readonly of: UsageOf;
  readonly aggregation: Aggregation;
  readonly filters: PropertyFilters;
  /** Only events of one of them; empty: of all. */
  readonly sources: readonly string[];
  readonly groupings: readonly Grouping[];
  readonly span: Span;
  /** The zone in which buckets begin. */
  readonly zone: string;
  /** The whole, unclipped starts of the windows that cover the span, in order; empty without windows. */
  readonly windowStarts: readonly Instant[];
}

const propertyPrefix = 'properties.';

/**
 * The groupings that a request names. Usage is always told apart by feature and meter: figures of different meters have
 * no sum.
 */
export const groupingsOf = (names: readonly string[]): readonly Grouping[] =>
  [...new Set(names)].flatMap((name): Grouping[] => {
    if (name === 'source') return [{ kind: 'source' }];
    if (!name.startsWith(propertyPrefix)) return [];
    return [{ kind: 'property', name: name.slice(propertyPrefix.length) }];
  });
