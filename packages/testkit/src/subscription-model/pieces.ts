import type { ModelLine, Moment } from './life.ts';

/** A phase, whose beginning a pause can move. */
export interface Phase {
  from: Moment;
}

/** A line for as long as its quantity stays the same. */
export interface Piece extends ModelLine {
  readonly origin: 'plan' | 'beside' | 'addon';
  readonly addon: string | null;
  /** Null: it is of no phase. */
  readonly phase: Phase | null;
  readonly isOnce: boolean;
  from: Moment;
  to: Moment;
}

export interface Addon {
  readonly name: string;
  readonly isOnce: boolean;
  readonly from: Moment;
  to: Moment;
  isRemoved: boolean;
  /** True once its end has come. */
  isOver: boolean;
}
