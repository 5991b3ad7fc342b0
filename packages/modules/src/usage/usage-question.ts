import type { Span, WindowRhythm } from '@counterfoil/kernel';
import type { Aggregation } from '../meters/index.ts';
import type { PropertyFilters } from './aggregation/measure.ts';
import type { UsageOf } from './usage-of.ts';

/** A question about usage. */
export interface UsageQuestion {
  readonly of: UsageOf;
  readonly aggregation: Aggregation;
  readonly filters: PropertyFilters;
  readonly span: Span;
  /** The zone in which buckets and windows begin. */
  readonly zone: string;
  readonly windows: WindowRhythm | null;
  /** True to list windows without usage too. */
  readonly fills: boolean;
}
