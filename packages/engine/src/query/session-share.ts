import { Problem } from '@counterfoil/kernel';

interface ShareOptions {
  /** Sessions that one tenant may have at once. */
  readonly perTenant: number;
  /** Milliseconds that a read may wait for one of them. */
  readonly waitMs: number;
}

interface Use {
  open: number;
  /** The reads that wait, in order. */
  readonly waiting: Set<() => void>;
}

/** Keeps a part of the sessions from each tenant, so that its slow reads do not hold up all others (D45). */
export class SessionShare {
  readonly #options: ShareOptions;
  readonly #uses = new Map<string, Use>();

  constructor(options: ShareOptions) {
    this.#options = options;
  }

  /** Runs a read of a tenant when it may have a session. Throws a `Problem` too_many_requests when it waited too long. */
  async run<Result>(tenant: string, read: () => Promise<Result>): Promise<Result> {
    const use = this.#uses.get(tenant) ?? { open: 0, waiting: new Set() };
    this.#uses.set(tenant, use);
    if (use.open >= this.#options.perTenant) await this.#turn(use);
    else use.open += 1;
    try {
      return await read();
    } finally {
      this.#leave(tenant, use);
    }
  }

  /** Resolves when a read that ends hands its session on. */
  #turn({ waiting }: Use): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(begin);
        reject(tooManyReads());
      }, this.#options.waitMs);
      waiting.add(begin);
    });
  }

  #leave(tenant: string, use: Use): void {
    const [next] = use.waiting;
    if (next) {
      use.waiting.delete(next);
      next();
      return;
    }
    use.open -= 1;
    if (use.open === 0) this.#uses.delete(tenant);
  }
}

const tooManyReads = (): Problem =>
  new Problem(
    'too_many_requests',
    'This tenant has too many slow reads at once. Repeat after Retry-After seconds.',
    { retryAfterSeconds: 1 },
  );
