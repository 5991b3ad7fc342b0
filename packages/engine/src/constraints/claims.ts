import { randomUUID } from 'node:crypto';
import {
  type AnyAggregate,
  BrokenInvariant,
  millisecondsOf,
  Problem,
  type UniqueValue,
} from '@counterfoil/kernel';
import { bareCommand, type Cause, type RawEvent } from '../decide/command.ts';
import type { Position } from '../log/types.ts';
import {
  claimRevoked,
  placeOf,
  type StreamPlace,
  type StreamState,
} from '../stream-cache/stream-state.ts';
import type { ClaimedChange, ReservationLease } from './changes.ts';
import { ReferenceClaims, type ReferenceClaimsOptions } from './reference-claims.ts';
import { type Holder, type ReservationState, reservationPlace } from './reservation.ts';

/** The age from which a claim of another process counts as left behind, in milliseconds. */
const claimLeaseMilliseconds = 5_000;
const pollMilliseconds = 50;
/** Bounds the wait for others: lease, plus some rounds of revoking and losing the race. */
const triesMaximum = 200;

export interface ClaimsOptions extends ReferenceClaimsOptions {
  readonly now: () => number;
  readonly onLeftBehind?: (place: StreamPlace, error: unknown) => void;
}

/**
 * Unique values across streams, without a lock and without asking a read model; references to other
 * records are claimed beside them.
 *
 * A value is claimed in the reservation stream that its name leads to, before the owner's event is
 * appended. The claim alone means nothing: the value is held when the state of the owner's own
 * stream says so (`aggregate.unique`), so the owner's event is the one commit point. A claim
 * without it was left by a process that died or is still at work. A command that needs the value
 * waits a little, and then revokes the claim in the owner's stream. That moves the stream on, so an
 * append that is still under way there fails and has to claim again: one value never gets two
 * owners.
 */
export class ReservationClaims {
  readonly #options: ClaimsOptions;
  readonly #references: ReferenceClaims;
  /** Claims of this process whose command has not come to its end. */
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(options: ClaimsOptions) {
    this.#options = options;
    this.#references = new ReferenceClaims(options);
  }

  #placeOfOwner(scope: string, holder: Holder): StreamPlace {
    const { category, id } = holder.owner;
    const aggregate = this.#options.aggregateOf(category);
    if (!aggregate) throw new BrokenInvariant(`a value is claimed by unknown category ${category}`);
    return placeOf(aggregate, scope, id);
  }

  /** Asks the owner's own stream, the only thing that counts, whether it holds the value. */
  async #holds(
    owner: StreamPlace,
    value: Pick<UniqueValue, 'name' | 'value'>,
    atLeast: Position | null = null,
  ): Promise<boolean> {
    const { state } = await this.#stream<unknown>(owner, atLeast);
    const held = owner.aggregate.unique?.(state) ?? [];
    return held.some((other) => other.name === value.name && other.value === value.value);
  }

  /** A stream up to a position at least, or as the log has it now. */
  #stream<State>(place: StreamPlace, atLeast: Position | null): Promise<StreamState<State>> {
    const writer = this.#options.writerOf<State>(place);
    return atLeast === null ? writer.current() : writer.seen(atLeast);
  }

  async #revoke(owner: StreamPlace, holder: Holder, cause: Cause): Promise<void> {
    const revocation: RawEvent = { type: claimRevoked, data: { claim_id: holder.claimId } };
    await this.#options.writerOf<unknown>(owner).run(bareCommand(cause, () => [revocation]));
  }

  /** Claims one value under an id. `covered`: the owner holds it already. */
  async #claimOne(
    owner: StreamPlace,
    value: UniqueValue,
    claimId: string,
    cause: Cause,
  ): Promise<'claimed' | 'replaced_own' | 'covered'> {
    const place = reservationPlace(owner.aggregate.name, owner.scope, value);
    const writer = this.#options.writerOf<ReservationState>(place);
    let found: Finding = { kind: 'wait' };
    for (let attempt = 0; attempt < triesMaximum; attempt += 1) {
      const replaceable = found.kind === 'replaceable' ? found : null;
      const claim = bareCommand<ReservationState>(cause, ({ holder }) =>
        holder === null || holder.claimId === replaceable?.claimId
          ? [claimedEvent(claimId, value, owner)]
          : [],
      );
      // Most values were never claimed before.
      const { state } = await writer.run({ ...claim, isProbablyFirst: true });
      if (state.holder === null) throw new BrokenInvariant(`${place.name} lost a claim`);
      if (state.holder.claimId === claimId) return replaceable?.isOwn ? 'replaced_own' : 'claimed';
      found = await this.#lookInto(owner, value, state.holder, cause);
      if (found.kind === 'covered') return 'covered';
    }
    throw new Problem('service_unavailable', 'Others are claiming the same value. Retry shortly.', {
      retryAfterSeconds: 1,
    });
  }

  /** Looks into a claim that is in the way. Throws `already_exists` when another's is good. */
  async #lookInto(
    owner: StreamPlace,
    value: UniqueValue,
    holder: Holder,
    cause: Cause,
  ): Promise<Finding> {
    const { claimId } = holder;
    const working = this.#underWay.get(claimId);
    if (working) {
      await working;
      return { kind: 'wait' };
    }
    const other = this.#placeOfOwner(owner.scope, holder);
    const isOwn = other.name === owner.name;
    if (await this.#holds(other, value)) {
      if (isOwn) return { kind: 'covered' };
      throw taken(value);
    }
    if (isOwn) return { kind: 'replaceable', claimId, isOwn };
    if (this.#options.now() - millisecondsOf(holder.since) < claimLeaseMilliseconds) {
      await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
      return { kind: 'wait' };
    }
    await this.#revoke(other, holder, cause);
    if (await this.#holds(other, value)) throw taken(value);
    return { kind: 'replaceable', claimId, isOwn };
  }

  /** Frees a value if it is still held by this very claim. */
  async #free(owner: StreamPlace, held: HeldClaim, cause: Cause): Promise<void> {
    const place = reservationPlace(owner.aggregate.name, owner.scope, held.value);
    try {
      const released: RawEvent = { type: 'ValueReleased', data: { claim_id: held.claimId } };
      await this.#options
        .writerOf<ReservationState>(place)
        .run(
          bareCommand(cause, ({ holder }) => (holder?.claimId === held.claimId ? [released] : [])),
        );
    } catch (error) {
      // Nothing is lost: the next claimant finds that the owner does not hold the value.
      this.#options.onLeftBehind?.(place, error);
    }
  }

  /** The claims under which the owner holds values. They do not change while it holds them. */
  async #claimsOf(
    owner: StreamPlace,
    values: readonly UniqueValue[],
  ): Promise<readonly HeldClaim[]> {
    const held = values.map(async (value) => {
      const place = reservationPlace(owner.aggregate.name, owner.scope, value);
      const { state } = await this.#options.writerOf<ReservationState>(place).current();
      return state.holder ? [{ value, claimId: state.holder.claimId }] : [];
    });
    return (await Promise.all(held)).flat();
  }

  /**
   * Has a change claimed for a command. Throws `already_exists` when another record holds one of the
   * values; see `ReferenceClaims` too.
   */
  async acquire(
    owner: StreamPlace,
    change: ClaimedChange,
    cause: Cause,
  ): Promise<ReservationLease> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const claimed = inOrder(change.added).map((value) => ({ value, claimId: randomUUID() }));
    const returnable: HeldClaim[] = [];
    const finish = () => {
      resolve();
      for (const { claimId } of claimed) this.#underWay.delete(claimId);
    };
    const freeAll = async (held: readonly HeldClaim[]) => {
      await Promise.all(held.map((claim) => this.#free(owner, claim, cause)));
    };
    try {
      const dropped = await this.#claimsOf(owner, change.dropped);
      for (const claim of claimed) {
        this.#underWay.set(claim.claimId, promise);
        const result = await this.#claimOne(owner, claim.value, claim.claimId, cause);
        // A claim that took the place of one of our own may be what another command of this
        // record counts on, so only the owner's state may end it.
        if (result === 'claimed') returnable.push(claim);
      }
      // After the values: a claim on a record is never given back, so a refused command must leave
      // none.
      const referring = await this.#references.claim(owner, change.references, cause);
      if (change.isRemoval) await this.#references.clear(owner, change, cause);
      let settled = false;
      return {
        ...change,
        claimIds: [...claimed.map(({ claimId }) => claimId), ...referring],
        async settle(outcome) {
          if (settled) return;
          settled = true;
          if (outcome === 'committed') await freeAll(dropped);
          if (outcome === 'failed') await freeAll(returnable);
          finish();
        },
      };
    } catch (error) {
      await freeAll(returnable);
      finish();
      throw error;
    }
  }

  /**
   * The id of the record that holds a value; null when none does.
   *
   * @param atLeast the position up to which that must be true; without it, it is as the log has it now
   */
  async holderOf(
    aggregate: AnyAggregate,
    scope: string,
    value: Pick<UniqueValue, 'name' | 'value'>,
    atLeast: Position | null = null,
  ): Promise<string | null> {
    const place = reservationPlace(aggregate.name, scope, value);
    const { state } = await this.#stream<ReservationState>(place, atLeast);
    if (!state.holder) return null;
    const owner = this.#placeOfOwner(scope, state.holder);
    return (await this.#holds(owner, value, atLeast)) ? owner.id : null;
  }
}

type Finding =
  | { readonly kind: 'wait' }
  | { readonly kind: 'covered' }
  | { readonly kind: 'replaceable'; readonly claimId: string; readonly isOwn: boolean };

interface HeldClaim {
  readonly value: UniqueValue;
  readonly claimId: string;
}

/** One order for everybody, so that two commands that want the same two values cannot lock up. */
const inOrder = (values: readonly UniqueValue[]): UniqueValue[] =>
  [...values].sort((a, b) => (`${a.name}\n${a.value}` < `${b.name}\n${b.value}` ? -1 : 1));

const claimedEvent = (claimId: string, value: UniqueValue, owner: StreamPlace): RawEvent => ({
  type: 'ValueClaimed',
  data: {
    claim_id: claimId,
    name: value.name,
    value: value.value,
    owner: { category: owner.aggregate.name, id: owner.id },
  },
});

const taken = (value: UniqueValue): Problem =>
  new Problem('already_exists', value.problem, { details: { field: value.field ?? value.name } });
