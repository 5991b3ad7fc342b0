import { Problem } from '@counterfoil/kernel';

/**
 * Makes a queue for work that keeps the processor busy: one piece after the other, so that requests of other kinds never
 * wait for more than one of them. More than `mostOfOne` of one owner, or more than `most` in all, are 503 at once.
 */
export function queueOf({
  most,
  mostOfOne,
}: {
  readonly most: number;
  readonly mostOfOne: number;
}) {
  const open = new Map<string, number>();
  let total = 0;
  let last: Promise<unknown> = Promise.resolve();

  const leave = (owner: string): void => {
    const left = (open.get(owner) ?? 1) - 1;
    total -= 1;
    if (left > 0) open.set(owner, left);
    else open.delete(owner);
  };

  return async <Value>(owner: string, work: () => Promise<Value>): Promise<Value> => {
    const own = open.get(owner) ?? 0;
    if (own >= mostOfOne || total >= most) throw busy();
    open.set(owner, own + 1);
    total += 1;
    const mine = last.then(work);
    // The next one begins when this one ends, well or not.
    last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      leave(owner);
    }
  };
}

const busy = (): Problem =>
  new Problem('service_unavailable', 'Too many documents are being made. Ask again in a moment.', {
    retryAfterSeconds: 2,
  });
