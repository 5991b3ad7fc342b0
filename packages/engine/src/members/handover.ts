import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { OwnedPlace, Ownership } from '../decide/ownership.ts';
import type { Nats } from '../nats/nats-connection.ts';
import type { Metrics } from '../operations/metrics.ts';
import { Askers } from './askers.ts';
import { ContendedStreams } from './contended-streams.ts';
import { LiveMembers, type Member } from './live-members.ts';
import { type MemberPost, openMemberPost, type PostKind } from './member-post.ts';
import { messageLimits, Outbox } from './outbox.ts';
import { createSealing } from './sealing.ts';
import { Standstill, standstillMilliseconds } from './standstill.ts';
import { timeToAnswer } from './time-to-answer.ts';

/** Anything that JSON carries, with about its size in bytes. */
export interface Sized<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/** Carries a request of another member out; null when that cannot be done here. It must not reject. */
export type CarryOutFor<Request, Answer> = (request: Request) => Promise<Sized<Answer> | null>;

export interface HandoverOptions {
  readonly nats: Nats;
  /** A secret that all members of the api have, and nobody else. */
  readonly secret: Uint8Array;
  readonly metrics: Metrics;
  /** Milliseconds that only ever rise, by which streams stay contended and a standstill is noticed. Those of the process unless given. */
  readonly clock?: () => number;
}

/** The share of a member in the common work. */
export interface Handover<Request, Answer> extends Ownership {
  /** Is there for the others from now on. Before that it hears of them, asks them, and is asked by nobody. */
  open(carryOut: CarryOutFor<Request, Answer>): void;
  /**
   * Hands a request that came at an instant of `performance.now()` to the owner of its stream. Null when no answer came
   * in time: it is then decided here.
   */
  handOver(place: OwnedPlace, request: Sized<Request>, startedAt: number): Promise<Answer | null>;
  /** The members that are there, this one first. */
  members(): readonly Member[];
  /** Throws, with a sentence for operators, while this member cannot hear the others. */
  check(): void;
  /** Tells the others to ask this member nothing more. What they have asked is still answered. */
  leave(): void;
  close(): Promise<void>;
}

export const handoverLimits = {
  announcedEveryMilliseconds: 1_000,
  /** For a sign of life of the owners that requests wait for. */
  knockedEveryMilliseconds: 250,
  /** Requests that wait for owners, and those of others that are carried out here, at most at once. */
  underWay: 2_000,
  carriedOut: 2_000,
  /** Requests under way to owners from which on others are gathered for a few milliseconds. */
  gatheredFrom: 8,
} as const;

interface Waiting<Answer> {
  readonly place: OwnedPlace;
  readonly resolve: (answer: Answer | null) => void;
  readonly timer: NodeJS.Timeout;
}

type NumberedRequest<Request> = readonly [number: number, request: Request, stream: string];
/** `isShared`: others than who asked write to the stream as well. */
type NumberedAnswer<Answer> = readonly [number: number, answer: Answer | null, isShared: boolean];
type WithoutOwner = 'silent' | 'gone' | 'refused' | 'unsent';

/** Joins the members of the api, and leaves them when it is closed. */
export function joinMembers<Request, Answer>(options: HandoverOptions): Handover<Request, Answer> {
  return new JoinedMember(options);
}

const newMember = (): Member => ({
  id: randomBytes(12).toString('hex'),
  name: `${hostname()}:${process.pid}`,
});

class JoinedMember<Request, Answer> implements Handover<Request, Answer> {
  readonly #live = new LiveMembers(newMember());
  readonly #contended: ContendedStreams;
  readonly #askers: Askers;
  readonly #post: MemberPost;
  readonly #requests = new Map<string, Outbox<NumberedRequest<Request>>>();
  readonly #answers = new Map<string, Outbox<NumberedAnswer<Answer>>>();
  readonly #waiting = new Map<number, Waiting<Answer>>();
  readonly #announcing: NodeJS.Timeout;
  readonly #standstill: Standstill;
  readonly #knocking: NodeJS.Timeout;
  readonly #count: ReturnType<typeof counters>;
  /** Null while this member is not there for the others: before it is open, and once it leaves. */
  #carryOutHere: CarryOutFor<Request, Answer> | null = null;
  #numbersGiven = 0;
  #carriedOut = 0;

  constructor(options: HandoverOptions) {
    this.#contended = new ContendedStreams(options.clock);
    this.#askers = new Askers(options.clock);
    this.#standstill = new Standstill(handoverLimits.announcedEveryMilliseconds, options.clock);
    this.#count = counters(options.metrics, () => this.members().length);
    const { nats, secret } = options;
    this.#post = openMemberPost({
      nats,
      sealing: createSealing(secret),
      self: this.#live.self,
      onAnnounced: this.#hear.bind(this),
      onPost: this.#take.bind(this),
      onUndelivered: (member) => this.#lose(member),
      onOpen: () => this.#announce(),
    });
    this.#announcing = setInterval(
      () => this.#takeTurn(),
      handoverLimits.announcedEveryMilliseconds,
    );
    this.#knocking = setInterval(() => this.#knock(), handoverLimits.knockedEveryMilliseconds);
  }

  open(carryOut: CarryOutFor<Request, Answer>): void {
    this.#carryOutHere = carryOut;
    this.#announce();
  }

  ownerElsewhere(stream: string): string | null {
    const self = this.#live.self.id;
    const hasOwner = this.#contended.has(stream) && this.#post.isOpen();
    const owner = hasOwner ? this.#live.ownerOf(stream) : self;
    if (owner !== self) return owner;
    this.#askers.noteBeside(stream, self);
    return null;
  }

  lost(stream: string): void {
    this.#contended.lost(stream);
  }

  members(): readonly Member[] {
    return this.#post.isOpen() ? this.#live.all() : [this.#live.self];
  }

  handOver(
    place: OwnedPlace,
    { value, bytes }: Sized<Request>,
    startedAt: number,
  ): Promise<Answer | null> {
    this.#count.handedOver.inc();
    if (this.#waiting.size >= handoverLimits.underWay || bytes > messageLimits.bytes) {
      this.#count.withoutOwner.inc({ reason: 'unsent' });
      return Promise.resolve(null);
    }
    this.#numbersGiven += 1;
    const number = this.#numbersGiven;
    return new Promise((resolve) => {
      const wait = timeToAnswer(performance.now() - startedAt);
      const due = performance.now() + wait;
      const timer = setTimeout(() => this.#giveUp(number, due), wait);
      this.#waiting.set(number, { place, resolve, timer });
      this.#outboxOf(place.owner).add([number, value, place.stream], bytes);
    });
  }

  check(): void {
    if (this.#post.isOpen()) return;
    throw new Error('NATS is away: contended records are decided wherever requests arrive.');
  }

  leave(): void {
    clearInterval(this.#announcing);
    if (this.#carryOutHere === null) return;
    this.#carryOutHere = null;
    this.#post.announce({ isLeaving: true });
  }

  async close(): Promise<void> {
    this.leave();
    clearInterval(this.#knocking);
    for (const number of this.#waiting.keys()) this.#end(number, null, 'unsent');
    await this.#post.close();
  }

  #takeTurn(): void {
    this.#standstill.noteTurn();
    this.#announce();
  }

  #announce(): void {
    // After a standstill, what happened meanwhile has to be read first.
    if (this.#carryOutHere === null || this.#standstill.isRecent) return;
    this.#post.announce({ isLeaving: false });
  }

  /** Sends nothing to the owners that requests wait for. When one was killed meanwhile, the broker says that nobody listens. */
  #knock(): void {
    const owners = new Set([...this.#waiting.values()].map(({ place }) => place.owner));
    for (const owner of owners) this.#post.send(owner, 'requests', []);
  }

  #hear(from: Member, content: unknown): void {
    if ((content as { readonly isLeaving: boolean }).isLeaving) this.#lose(from.id);
    // Who is new hears of this member at once.
    else if (this.#live.heard(from)) this.#announce();
  }

  #take(from: Member, kind: PostKind, content: unknown): void {
    if (kind === 'requests') {
      for (const request of content as NumberedRequest<Request>[])
        void this.#carryOut(from, request);
      return;
    }
    this.#live.answered(from.id);
    for (const [number, answer, isShared] of content as NumberedAnswer<Answer>[]) {
      const stream = this.#waiting.get(number)?.place.stream;
      if (isShared && stream !== undefined) this.#contended.confirm(stream);
      this.#end(number, answer, 'refused');
    }
  }

  async #carryOut(
    from: Member,
    [number, request, stream]: NumberedRequest<Request>,
  ): Promise<void> {
    const isShared = this.#askers.note(stream, from.id);
    const carryOut = this.#carryOutHere;
    let answer: Sized<Answer> | null = null;
    if (carryOut !== null && this.#carriedOut < handoverLimits.carriedOut) {
      this.#count.takenOver.inc();
      this.#carriedOut += 1;
      answer = await carryOut(request);
      this.#carriedOut -= 1;
    }
    const box = this.#answerBoxOf(from.id);
    if (answer && answer.bytes <= messageLimits.bytes)
      box.add([number, answer.value, isShared], answer.bytes);
    else box.add([number, null, isShared], 0);
  }

  #outboxOf(owner: string): Outbox<NumberedRequest<Request>> {
    const send = (items: readonly NumberedRequest<Request>[]): void => {
      if (this.#post.send(owner, 'requests', items)) return;
      for (const [number] of items) this.#end(number, null, 'unsent');
    };
    const isBusy = (): boolean => this.#waiting.size > handoverLimits.gatheredFrom;
    return boxOf(this.#requests, owner, () => new Outbox(send, isBusy));
  }

  #answerBoxOf(member: string): Outbox<NumberedAnswer<Answer>> {
    const send = (items: readonly NumberedAnswer<Answer>[]): void => {
      this.#post.send(member, 'answers', items);
    };
    return boxOf(this.#answers, member, () => new Outbox(send));
  }

  #giveUp(number: number, due: number): void {
    const owner = this.#waiting.get(number)?.place.owner;
    // After a standstill of this process the answer may be there, and only not be read yet.
    const isOnTime = performance.now() - due < standstillMilliseconds;
    if (owner !== undefined && isOnTime) this.#live.keptSilent(owner);
    this.#end(number, null, 'silent');
  }

  /** A member is gone: what it was asked is decided here at once. */
  #lose(member: string): void {
    this.#live.left(member);
    this.#requests.delete(member);
    this.#answers.delete(member);
    for (const [number, { place }] of this.#waiting) {
      if (place.owner === member) this.#end(number, null, 'gone');
    }
  }

  #end(number: number, answer: Answer | null, otherwise: WithoutOwner): void {
    const waiting = this.#waiting.get(number);
    if (!waiting) return;
    this.#waiting.delete(number);
    clearTimeout(waiting.timer);
    if (answer === null) this.#count.withoutOwner.inc({ reason: otherwise });
    waiting.resolve(answer);
  }
}

/** Members to which there is something to send; those that went without a word are forgotten with them. */
const boxesMaximum = 1_000;

function boxOf<Item>(
  boxes: Map<string, Outbox<Item>>,
  member: string,
  make: () => Outbox<Item>,
): Outbox<Item> {
  const known = boxes.get(member);
  if (known) return known;
  // One that still holds something sends it all the same.
  if (boxes.size >= boxesMaximum) boxes.clear();
  const made = make();
  boxes.set(member, made);
  return made;
}

function counters(metrics: Metrics, members: () => number) {
  metrics.gauge({
    name: 'counterfoil_api_members',
    help: 'Processes of the api that this one knows to be there, itself included',
    collect: (gauge) => gauge.set(members()),
  });
  return {
    handedOver: metrics.counter({
      name: 'counterfoil_requests_handed_over_total',
      help: 'Requests about contended streams that were handed to their owner',
    }),
    takenOver: metrics.counter({
      name: 'counterfoil_requests_taken_over_total',
      help: 'Requests of other processes that were carried out here',
    }),
    withoutOwner: metrics.counter({
      name: 'counterfoil_decisions_without_owner_total',
      help: 'Requests that were decided here because their owner did not answer, by reason',
      labels: ['reason'],
    }),
  };
}
