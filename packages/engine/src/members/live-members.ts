import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** A member of the api, as it announces itself. */
export interface Member {
  readonly id: string;
  /** The name for people: host and process. */
  readonly name: string;
}

interface Other extends Member {
  heardAt: number;
  /** Not asked before: it has let requests wait. */
  restsUntil: number;
  restMilliseconds: number;
}

/** The time for which a member counts as there after its last announcement. */
export const memberLifeMilliseconds = 3_000;
const restAtFirst = 2_000;
const restAtMost = 30_000;
/** Members beyond this number are not known here, and decide for themselves. */
const othersMaximum = 200;

/** The members that are there, as one of them sees it. Others may see it differently: nothing rests on it. */
export class LiveMembers {
  readonly self: Member;
  readonly #clock: () => number;
  readonly #others = new Map<string, Other>();

  /** `clock` gives milliseconds that only ever rise. */
  constructor(self: Member, clock: () => number = () => performance.now()) {
    this.self = self;
    this.#clock = clock;
  }

  /** Notes an announcement. True when the member was not known. */
  heard({ id, name }: Member): boolean {
    if (id === this.self.id) return false;
    const known = this.#others.get(id);
    const now = this.#clock();
    if (known) {
      known.heardAt = now;
      return false;
    }
    this.#forgetLost();
    if (this.#others.size >= othersMaximum) return false;
    const rest = { restsUntil: now, restMilliseconds: 0 };
    this.#others.set(id, { id, name, heardAt: now, ...rest });
    return true;
  }

  /** A member says that it goes, or nobody listens to it any more. */
  left(id: string): void {
    this.#others.delete(id);
  }

  /** A member has let a request wait: it is not asked for a while, each time for longer. */
  keptSilent(id: string): void {
    const known = this.#others.get(id);
    const now = this.#clock();
    if (!known || known.restsUntil > now) return;
    known.restMilliseconds = Math.min(restAtMost, known.restMilliseconds * 2 || restAtFirst);
    known.restsUntil = now + known.restMilliseconds;
  }

  /** A member has answered. */
  answered(id: string): void {
    const known = this.#others.get(id);
    if (known) known.restMilliseconds = 0;
  }

  /** Those who are there, this member first. */
  all(): readonly Member[] {
    this.#forgetLost();
    return [this.self, ...[...this.#others.values()].map(({ id, name }) => ({ id, name }))];
  }

  /**
   * The member that a stream belongs to, by rendezvous hashing: the one with the highest hash of its id and
   * the stream. So nobody keeps a table, and a member that comes or goes moves its own share alone.
   */
  ownerOf(stream: string): string {
    const now = this.#clock();
    let owner = this.self.id;
    let highest = weight(owner, stream);
    for (const { id, heardAt, restsUntil } of this.#others.values()) {
      if (now - heardAt > memberLifeMilliseconds || restsUntil > now) continue;
      const own = weight(id, stream);
      if (own > highest) [owner, highest] = [id, own];
    }
    return owner;
  }

  #forgetLost(): void {
    const now = this.#clock();
    for (const { id, heardAt } of this.#others.values()) {
      if (now - heardAt > memberLifeMilliseconds) this.#others.delete(id);
    }
  }
}

/** Every request about a contended stream asks for the same few weights. */
const weightsMaximum = 20_000;
const weights = new LRUCache<string, string>({ max: weightsMaximum });

function weight(member: string, stream: string): string {
  const text = `${member}\n${stream}`;
  const known = weights.get(text);
  if (known !== undefined) return known;
  const made = hash('sha1', text);
  weights.set(text, made);
  return made;
}
