import { randomUUID } from 'node:crypto';
import {
  type AnyAggregate,
  BrokenInvariant,
  type Instant,
  invalidOperation,
  type Reference,
} from '@counterfoil/kernel';
import { inParallel } from '../consume/run-forever.ts';
import { bareCommand, type Cause, type RawEvent, type Writer } from '../decide/command.ts';
import type { EventStore } from '../log/types.ts';
import {
  claimRevoked,
  placeOf,
  referenceClaimed,
  type StreamPlace,
} from '../stream-cache/stream-state.ts';
import type { ClaimedChange } from './changes.ts';

export interface ReferenceClaimsOptions {
  readonly store: Pick<EventStore, 'readStream'>;
  readonly writerOf: <State>(place: StreamPlace) => Writer<State>;
  readonly aggregateOf: (category: string) => AnyAggregate | undefined;
}

interface Claim {
  readonly claim_id: string;
  readonly owner: { readonly category: string; readonly id: string };
}

const examinedAtOnce = 16;
/** So that they fit into one append. */
const revokedAtOnce = 500;

/**
 * References across streams, without a lock: nothing ever depends on a record that has gone out of
 * use.
 *
 * Before an owner's event that makes it depend on a record, the owner's claim is appended to the
 * stream of that record, in one decision with the question whether it may still be referred to. A
 * decision that takes the record out of use looks at all claims that its stream has up to the
 * revision that it is made on. An owner that depends on the record keeps it in use. One that does
 * not (yet) has its claim revoked in its own stream. That moves the stream on: an append that is
 * under way there fails and has to claim again. So the second always finds what the first has done.
 */
export class ReferenceClaims {
  readonly #options: ReferenceClaimsOptions;

  constructor(options: ReferenceClaimsOptions) {
    this.#options = options;
  }

  /**
   * Claims that an owner is about to refer to records; the ids of the claims. They need not be given
   * back: a claim means nothing where the owner does not refer to the record.
   *
   * @throws a Problem when one of the records is no longer there: `not_found` or `invalid_operation`
   */
  claim(
    owner: StreamPlace,
    references: readonly Reference[],
    cause: Cause,
  ): Promise<readonly string[]> {
    return Promise.all(
      references.map(async (reference) => {
        const claimId = randomUUID();
        const claimed: RawEvent = {
          type: referenceClaimed,
          data: { claim_id: claimId, owner: { category: owner.aggregate.name, id: owner.id } },
        };
        const place = this.#placeOf(owner.scope, reference);
        await this.#options.writerOf<unknown>(place).run(
          bareCommand(cause, (state) => {
            const isThere = place.aggregate.isReferable?.(state) ?? false;
            if (!isThere && !reference.follows) throw outOfUse(reference);
            return [claimed];
          }),
        );
        return claimId;
      }),
    );
  }

  /**
   * Makes sure that nothing depends on a record and that nothing under way will, as far as the claims up to
   * a revision of its stream tell.
   *
   * @throws a Problem `invalid_operation` that names a record which depends on it
   */
  async clear(
    record: StreamPlace,
    { decidedAt, at }: Pick<ClaimedChange, 'decidedAt' | 'at'>,
    cause: Cause,
  ): Promise<void> {
    const owners = await this.#ownersOf(record, decidedAt);
    await inParallel(owners, examinedAtOnce, (claims) => this.#examine(record, claims, at, cause));
  }

  /** The claims in a stream by owner, those first that came last: they are the likeliest to depend on it. */
  async #ownersOf(record: StreamPlace, upTo: number): Promise<readonly (readonly Claim[])[]> {
    const owners = new Map<string, Claim[]>();
    for await (const { type, data, revision } of this.#options.store.readStream(record.name)) {
      if (revision > upTo) break;
      if (type !== referenceClaimed) continue;
      const claim = data as Claim;
      const key = `${claim.owner.category}\n${claim.owner.id}`;
      const known = owners.get(key) ?? [];
      owners.delete(key);
      owners.set(key, [...known, claim]);
    }
    return [...owners.values()].reverse();
  }

  async #examine(
    record: StreamPlace,
    claims: readonly Claim[],
    at: Instant,
    cause: Cause,
  ): Promise<void> {
    const [first] = claims;
    if (!first) return;
    const owner = this.#placeOf(record.scope, first.owner);
    const writer = this.#options.writerOf<unknown>(owner);
    const { state, revokedClaims } = await writer.current();
    refuseWhenReferred(record, owner, state, at);
    const open = claims.filter(({ claim_id }) => !revokedClaims.has(claim_id));
    if (open.length === 0) return;
    const revocations = open.map(({ claim_id }) => ({ type: claimRevoked, data: { claim_id } }));
    for (let start = 0; start < revocations.length; start += revokedAtOnce) {
      const some = revocations.slice(start, start + revokedAtOnce);
      const revoked = await writer.run(bareCommand(cause, () => some));
      refuseWhenReferred(record, owner, revoked.state, at);
    }
  }

  #placeOf(scope: string, { category, id }: Pick<Reference, 'category' | 'id'>): StreamPlace {
    const aggregate = this.#options.aggregateOf(category);
    if (!aggregate) throw new BrokenInvariant(`a record refers to unknown category ${category}`);
    return placeOf(aggregate, scope, id);
  }
}

function refuseWhenReferred(
  record: StreamPlace,
  owner: StreamPlace,
  state: unknown,
  at: Instant,
): void {
  const references: readonly Reference[] = owner.aggregate.refersTo?.(state, at) ?? [];
  const own = references.find(
    ({ category, id }) => category === record.aggregate.name && id === record.id,
  );
  if (!own) return;
  const message = `The ${own.what} ${record.id} is still used by ${owner.id}. End that first.`;
  throw invalidOperation(message, { reason: 'in_use', used_by: owner.id });
}

const outOfUse = ({ what, id }: Reference) =>
  invalidOperation(`The ${what} ${id} is out of use: nothing new can refer to it.`, {
    reason: 'archived',
  });
