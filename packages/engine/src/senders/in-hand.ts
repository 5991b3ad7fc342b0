import { Problem } from '@counterfoil/kernel';

/** The most that is in hand at once: of one tenant, and of all together. */
export interface InHandLimits {
  readonly messages: number;
  readonly bytes: number;
  readonly tenantMessages: number;
  readonly tenantBytes: number;
}

export const inHandLimits: InHandLimits = {
  messages: 2_000,
  bytes: 64 * 1024 * 1024,
  tenantMessages: 500,
  tenantBytes: 16 * 1024 * 1024,
};

interface Load {
  messages: number;
  bytes: number;
}

/** The messages that have been taken and are not yet answered, by tenant. */
export class InHand {
  readonly #limits: InHandLimits;
  readonly #tenants = new Map<string, Load>();
  readonly #all: Load = { messages: 0, bytes: 0 };

  constructor(limits: InHandLimits = inHandLimits) {
    this.#limits = limits;
  }

  get messages(): number {
    return this.#all.messages;
  }

  /** Takes a message in, which has to `leave` again; gives the `Problem` with which it is refused, or null. */
  enter(tenantId: string, bytes: number): Problem | null {
    const { messages, bytes: mostBytes, tenantMessages, tenantBytes } = this.#limits;
    const own = this.#tenants.get(tenantId) ?? { messages: 0, bytes: 0 };
    if (own.messages >= tenantMessages || own.bytes + bytes > tenantBytes) return tooManyOfTenant();
    if (this.#all.messages >= messages || this.#all.bytes + bytes > mostBytes) return tooMany();
    this.#tenants.set(tenantId, own);
    for (const load of [own, this.#all]) {
      load.messages += 1;
      load.bytes += bytes;
    }
    return null;
  }

  leave(tenantId: string, bytes: number): void {
    const own = this.#tenants.get(tenantId);
    if (!own) return;
    for (const load of [own, this.#all]) {
      load.messages -= 1;
      load.bytes -= bytes;
    }
    if (own.messages === 0) this.#tenants.delete(tenantId);
  }
}

const tooManyOfTenant = (): Problem =>
  new Problem(
    'too_many_requests',
    'This tenant has sent too much that is not yet recorded. Send it again shortly.',
    { retryAfterSeconds: 1 },
  );

const tooMany = (): Problem =>
  new Problem(
    'service_unavailable',
    'The service has too many messages in hand. Send it again shortly.',
    { retryAfterSeconds: 1 },
  );
