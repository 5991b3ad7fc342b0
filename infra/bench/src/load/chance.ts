import type { Choice } from './plan.ts';

/** A number from 0 to below 1. */
export type Random = () => number;

/** Random numbers that are the same for the same seed (mulberry32), so that runs can be compared. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Chooses places of a list of that length, as often as the choice says. */
export function chooser(choice: Choice, length: number, random: Random): () => number {
  switch (choice.kind) {
    case 'uniform':
      return () => Math.floor(random() * length);
    case 'zipf': {
      const sums = sumsOfZipf(length, choice.exponent);
      const total = sums.at(-1) ?? 0;
      return () => placeOf(sums, random() * total);
    }
    default:
      return choice satisfies never;
  }
}

function sumsOfZipf(length: number, exponent: number): Float64Array {
  const sums = new Float64Array(length);
  let sum = 0;
  for (let place = 0; place < length; place += 1) {
    sum += (place + 1) ** -exponent;
    sums[place] = sum;
  }
  return sums;
}

/** The first place whose sum is above a value. */
function placeOf(sums: Float64Array, value: number): number {
  let low = 0;
  let high = sums.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sums[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
