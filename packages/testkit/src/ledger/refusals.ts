/** A refusal by the rules. */
export class Refused extends Error {
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly isRemembered: boolean;
  constructor(details: Readonly<Record<string, unknown>> | null, isRemembered = true) {
    super('refused');
    this.details = details;
    this.isRemembered = isRemembered;
  }

  /** The same refusal with other details. */
  with(details: Readonly<Record<string, unknown>>): Refused {
    return new Refused(details, this.isRemembered);
  }
}

/** The reason of a refusal for lack of funds. */
export const shortage = 'insufficient_credits';

/** Credits to be loaded. `amount` is given when they were bought by an amount of money. */
export interface Load {
  readonly reason: string;
  readonly credits: bigint;
  readonly amount: bigint | null;
  readonly priority: number | null;
  readonly expires: number | null;
  /** The moment from which they count, when they are dated back. */
  readonly from?: number | null;
}

export const shownInstant = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString();
/** The instant at which something ends is already too late for it. */
export const isOver = (time: number, moment: number): boolean => time <= moment;

/** Refuses a load that is worth nothing, or has expired before it comes. */
export function assertLoadable({ credits, expires }: Load, at: number): void {
  if (credits === 0n) throw new Refused({ reason: 'amount_too_small', credits: '0' }, false);
  if (expires !== null && isOver(expires, at)) {
    throw new Refused({ reason: 'credits_expired', expires_at: shownInstant(expires) }, false);
  }
}

/** Returns what has ended by a moment, in the order of time; of one time in the order given. */
export const ending = <Item extends { readonly expires: number | null }>(
  items: readonly Item[],
  moment: number,
): Item[] =>
  items
    .filter(({ expires }) => expires !== null && isOver(expires, moment))
    .toSorted((a, b) => (a.expires ?? 0) - (b.expires ?? 0));
