import type { ModelLine, ModelPlan, Moment } from './life.ts';
import type { Payments } from './payments.ts';
import type { Addon, Piece } from './pieces.ts';

/** The subscription that follows on another plan. */
export interface Following {
  readonly plan: ModelPlan;
  readonly prorates: boolean;
  readonly pieces: readonly Piece[];
  readonly addons: readonly Addon[];
}

/** The subscription before, as far as the next one depends on it. */
interface Before {
  readonly pieces: readonly Piece[];
  readonly addons: readonly Addon[];
  readonly payments: Payments;
  readonly rate: Pick<ModelPlan, 'unit' | 'count'>;
  /** Makes a line of the plan. */
  readonly piece: (line: ModelLine) => Piece;
}

/** The subscription that follows at an instant, under the terms of the day on which it is asked for (D65). */
export function followingOf(
  before: Before,
  { plan, prorates, at }: Pick<Following, 'plan' | 'prorates'> & { readonly at: Moment },
): Following {
  const { payments, rate } = before;
  // A phase that is to come ends with the plan.
  const isLater = ({ phase, from }: Piece): boolean => phase !== null && from > at;
  const running = before.pieces.filter(
    (piece) => piece.to > at && piece.to > piece.from && !isLater(piece),
  );
  const isSameRate = plan.unit === rate.unit && plan.count === rate.count;
  // Of an add-on that was sold once all of a line is paid for.
  const isSettled = ({ name, isOnce }: Piece): boolean => isOnce && payments.isPaid(name, 0);
  const addons = before.addons.filter(
    ({ name, to }) =>
      to > at && (isSameRate || running.every((piece) => piece.addon !== name || isSettled(piece))),
  );
  const sold = plan.lines.map((line) => ({
    ...before.piece(line),
    quantity: quantityTaken(line, plan, running),
  }));
  const beside = running.filter(({ origin }) => origin === 'beside' && isSameRate);
  const ofAddons = running.filter(
    (piece) => addons.some(({ name }) => name === piece.addon) && !isSettled(piece),
  );
  // As they are on that day, whatever becomes of them.
  const pieces = [...sold, ...beside, ...ofAddons].map((piece) => ({ ...piece }));
  return { plan, prorates, pieces, addons };
}

/** The quantity of a line of a plan: that of the one before with its name, or of the only one (E 13 B). */
function quantityTaken(line: ModelLine, plan: ModelPlan, running: readonly Piece[]): number {
  if (line.kind === 'usage') return line.quantity;
  const before = running.filter(({ origin, kind }) => origin === 'plan' && kind !== 'usage');
  const after = plan.lines.filter(({ kind }) => kind !== 'usage');
  const isOnly = before.length === 1 && after.length === 1;
  const isNamed = before.some(({ name }) => name === line.name);
  const found = before.find(({ name }) => name === line.name || (isOnly && !isNamed));
  return found === undefined || found.quantity === 1 ? line.quantity : found.quantity;
}
