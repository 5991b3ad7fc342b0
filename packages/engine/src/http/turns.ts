/** A piece of work that runs without a pause, such as the parsing of a body. */
type Work = () => void;

/** Lets tenants take turns at the one thread of the process (D45). */
export interface Turns {
  /** Runs work of a tenant: at once, or when the turns of the tenant allow it. */
  take(tenant: string, work: Work): void;
}

interface TurnsOptions {
  /** The time that a tenant may start work in, per turn of the event loop, in milliseconds. */
  readonly sliceMs: number;
  /** Milliseconds of a clock that never jumps. */
  readonly now?: () => number;
  /** Runs work in the next turn of the event loop, after what has arrived by then. */
  readonly nextTurn?: (work: Work) => void;
}

interface Share {
  /** Milliseconds that its work has taken and that its turns have not paid for yet. */
  spent: number;
  readonly waiting: Work[];
}

/**
 * Makes the turns of a process. The event loop takes in what has arrived for everybody once per turn. In each of
 * them a tenant may start work until it has spent its slice; work that takes longer is paid for by the turns
 * after it. So what others wait for is one piece of work of each tenant, however many a tenant has sent at
 * once. Nothing is refused, and a tenant that is alone loses no time: its turns follow one another at once.
 */
export function createTurns({
  sliceMs,
  now = () => performance.now(),
  nextTurn = setImmediate,
}: TurnsOptions): Turns {
  const shares = new Map<string, Share>();

  function run(share: Share, work: Work): void {
    const startedAt = now();
    work();
    share.spent += now() - startedAt;
  }

  function beginTurn(): void {
    for (const [tenant, share] of shares) {
      share.spent = Math.max(0, share.spent - sliceMs);
      let served = 0;
      for (; served < share.waiting.length && share.spent < sliceMs; served += 1) {
        run(share, share.waiting[served] as Work);
      }
      share.waiting.splice(0, served);
      if (share.spent === 0 && share.waiting.length === 0) shares.delete(tenant);
    }
    if (shares.size > 0) nextTurn(beginTurn);
  }

  return {
    take: (tenant, work) => {
      let share = shares.get(tenant);
      if (share === undefined) {
        if (shares.size === 0) nextTurn(beginTurn);
        share = { spent: 0, waiting: [] };
        shares.set(tenant, share);
      }
      if (share.waiting.length > 0 || share.spent >= sliceMs) share.waiting.push(work);
      else run(share, work);
    },
  };
}
