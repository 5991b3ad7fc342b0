import type { ModelLine, ModelPhase, Moment, Stretch } from './life.ts';
import { moved, movedStretch } from './own-time.ts';
import type { Addon, Phase, Piece } from './pieces.ts';

/** Lines that end, and lines that begin in their place. */
interface Turned {
  readonly ending: readonly Piece[];
  readonly begun: readonly Piece[];
}

/** Everything that a subscription is sold: its lines, its add-ons, and its phases in their order. */
export class Sold {
  pieces: Piece[];
  addons: Addon[];
  phases: Phase[] = [];
  /** The end of the subscription. */
  readonly #end: Moment;

  constructor(end: Moment, pieces: Piece[], addons: Addon[] = []) {
    this.#end = end;
    this.pieces = pieces;
    this.addons = addons;
  }

  /** The line that stands under a name now. */
  current(name: string): Piece | undefined {
    return this.pieces.findLast((piece) => piece.name === name);
  }

  /** Moves everything that lies ahead when a pause begins. */
  move(pause: Stretch): void {
    for (const each of [...this.pieces, ...this.addons]) {
      Object.assign(each, movedStretch(each, pause));
    }
    for (const phase of this.phases) phase.from = moved(phase.from, pause);
  }

  /** Lets everything that was to begin with the end of a trial do so, and the rest not before it. */
  moveTrial(before: Moment, to: Moment, endOfOnce: () => Moment): void {
    for (const addon of this.addons) {
      if (addon.isOnce && !addon.isRemoved) addon.to = endOfOnce();
    }
    for (const piece of this.pieces) {
      const isOver = piece.to <= piece.from;
      piece.from = piece.from === before ? to : Math.max(piece.from, to);
      const addon = this.addons.find(({ name }) => name === piece.addon);
      if (addon?.isOnce && !addon.isRemoved) piece.to = addon.to;
      if (isOver) piece.to = piece.from;
      piece.to = Math.max(piece.to, piece.from);
    }
  }

  /** Phases from the beginning on: the first is sold already. */
  begin(start: Moment, phases: readonly ModelPhase[], piece: (line: ModelLine) => Piece): void {
    if (phases.length === 0) return;
    const first = { from: start };
    this.phases.push(first);
    this.pieces = this.pieces.map((each) => ({ ...each, phase: first }));
    for (const phase of phases) this.addPhase(phase, piece);
  }

  /** The lines of the last phase, or those of the plan, end where the next one begins. */
  addPhase({ on, lines }: ModelPhase, piece: (line: ModelLine) => Piece): Turned {
    const last = this.phases.at(-1) ?? null;
    const phase = { from: on };
    const ending = this.pieces.filter(
      (each) => each.origin === 'plan' && each.phase === last && each.to > on,
    );
    for (const each of ending) each.to = Math.max(on, each.from);
    const begun = lines.map((line) => {
      const from = Math.max(on, piece(line).from);
      return { ...piece(line), phase, from, to: this.#end };
    });
    this.phases.push(phase);
    this.pieces.push(...begun);
    return { ending, begun };
  }

  /** Gives a phase up, and lets go on until the next one what was before it: the lines that ended only because it was to begin. */
  dropPhase(phase: Phase): Turned {
    const place = this.phases.indexOf(phase);
    const { from } = phase;
    const before = this.phases[place - 1] ?? null;
    const to = this.phases[place + 1]?.from ?? this.#end;
    const begun = this.pieces
      .filter((each) => each.addon === null && each.phase === before && each.to === from)
      .map((each) => ({ ...each, from, to }));
    const ending = this.pieces.filter((each) => each.phase === phase);
    for (const each of ending) each.to = Math.max(from, each.from);
    this.phases.splice(place, 1);
    this.pieces.push(...begun);
    return { ending, begun };
  }
}
