import type { Effect } from './reference-ledger.ts';
import { creditsOf, shownCredits } from './units.ts';

/** An effect, and the moment of the command that led to it. */
export interface Recorded {
  readonly at: number;
  readonly effect: Effect;
}

/** The content of a wallet at a moment: its lots by the number of their entry, those with credits only. */
export interface Past {
  readonly balance: string;
  readonly held: string;
  readonly lots: readonly (readonly [lot: number, credits: string])[];
}

type Parts = Map<number, bigint>;

/** Credits that a reversal gives back to a lot. */
interface Returned {
  readonly lot: number;
  readonly credits: string;
}

/** The moment from which an effect counts. */
export function countsFrom({ at, effect }: Recorded): number {
  const named = effect.effective ?? (effect.type.startsWith('Hold') ? effect.at : null);
  return typeof named === 'string' ? Date.parse(named) : at;
}

/** Returns what a wallet held at a moment, as far as it was recorded by another. */
export function pastOf(told: readonly Recorded[], asOf: number, knownAt: number): Past {
  const sums = new Sums();
  for (const each of told) {
    if (each.at <= knownAt && countsFrom(each) <= asOf) sums.add(each.effect);
  }
  return sums.past();
}

/** Adds up effects, some of which may be left out. */
class Sums {
  #balance = 0n;
  readonly #lots: Parts = new Map();
  /** Credits of loads that paid a debt when they were recorded. */
  readonly #paid: Parts = new Map();
  readonly #holds = new Map<unknown, { readonly credits: bigint; readonly parts: Parts }>();

  add(effect: Effect): void {
    const { type, id, number } = effect;
    const credits = creditsOf(String(effect.credits ?? '0'));
    switch (type) {
      case 'CreditsLoaded': {
        const available = creditsOf(String(effect.available));
        this.#balance += credits;
        this.#lots.set(Number(number), available);
        this.#paid.set(Number(number), credits - available);
        return;
      }
      case 'DebitReversed':
        this.#balance += credits;
        for (const { lot, credits: back } of effect.returned as readonly Returned[]) {
          this.#lots.set(lot, (this.#lots.get(lot) ?? 0n) + creditsOf(back));
        }
        this.#lots.set(Number(number), creditsOf(String(effect.available)));
        return;
      case 'CreditsDebited':
      case 'CreditsExpired':
        this.#balance -= credits;
        this.#move(partsOf(effect.drawn), -1n);
        return;
      case 'CreditsHeld':
        this.#holds.set(id, { credits, parts: partsOf(effect.drawn) });
        this.#move(partsOf(effect.drawn), -1n);
        return;
      case 'HoldChanged':
        this.#holds.set(id, { credits, parts: partsOf(effect.parts) });
        this.#move(partsOf(effect.drawn), -1n);
        this.#move(partsOf(effect.returned), 1n);
        return;
      case 'HoldCaptured':
      case 'HoldReleased': {
        this.#balance -= credits;
        const hold = this.#holds.get(id);
        const own = hold?.parts ?? new Map();
        if (effect.isFinal !== false) this.#holds.delete(id);
        else this.#keep(id, (hold?.credits ?? 0n) - credits, own, partsOf(effect.drawn));
        // Its own parts left their lots when it was made.
        for (const [lot, drawn] of partsOf(effect.drawn ?? [])) {
          const kept = own.get(lot) ?? 0n;
          if (drawn > kept) this.#move(new Map([[lot, drawn - kept]]), -1n);
        }
        this.#move(partsOf(effect.returned), 1n);
        return;
      }
      default:
        if (number !== undefined) throw new Error(`nobody knows what ${type} moves`);
    }
  }

  past(): Past {
    const holds = [...this.#holds.values()];
    const inParts = holds.flatMap(({ parts }) => [...parts.values()]);
    let spare = this.#balance - sumOf([...inParts, ...this.#lots.values()]);
    // A debt that had not come up yet was not paid yet.
    for (const [lot, paid] of this.#paid) {
      const back = paid < spare ? paid : spare;
      if (back <= 0n) continue;
      this.#move(new Map([[lot, back]]), 1n);
      spare -= back;
    }
    return {
      balance: shownCredits(this.#balance),
      held: shownCredits(sumOf(holds.map(({ credits }) => credits))),
      lots: [...this.#lots]
        .filter(([, left]) => left > 0n)
        .sort(([a], [b]) => a - b)
        .map(([lot, left]) => [lot, shownCredits(left)] as const),
    };
  }

  /** Leaves a hold open with what a capture has left in it. */
  #keep(id: unknown, credits: bigint, own: Parts, drawn: Parts): void {
    const parts = [...own].map(([lot, kept]) => {
      const taken = drawn.get(lot) ?? 0n;
      return [lot, taken < kept ? kept - taken : 0n] as const;
    });
    this.#holds.set(id, { credits, parts: new Map(parts) });
  }

  #move(parts: Parts, sign: bigint): void {
    for (const [lot, credits] of parts) {
      const left = this.#lots.get(lot);
      // A lot that came later than the moment is not there yet.
      if (left !== undefined) this.#lots.set(lot, left + sign * credits);
    }
  }
}

const sumOf = (figures: readonly bigint[]): bigint => figures.reduce((sum, each) => sum + each, 0n);

/** Draws as they stand in an effect: lot, credits, and what is left. */
const partsOf = (draws: unknown): Parts =>
  new Map(
    (draws as readonly (readonly [number, string])[]).map(([lot, credits]) => [
      lot,
      creditsOf(credits),
    ]),
  );
