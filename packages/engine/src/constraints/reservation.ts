import { aggregate, hashOf, type Instant, type UniqueValue } from '@counterfoil/kernel';
import { z } from 'zod';
import { placeOf, type StreamPlace } from '../stream-cache/stream-state.ts';

const ownerSchema = z.object({ category: z.string(), id: z.string() });

const events = {
  /** The value belongs to the owner as soon as the owner's own stream says so; see claims.ts. */
  ValueClaimed: z.object({
    claim_id: z.string(),
    name: z.string(),
    value: z.string(),
    owner: ownerSchema,
  }),
  ValueReleased: z.object({ claim_id: z.string() }),
};

/** The claim that holds a value: its record, its id and its time. */
export interface Holder {
  readonly claimId: string;
  readonly owner: z.output<typeof ownerSchema>;
  readonly since: Instant;
}

export interface ReservationState {
  readonly holder: Holder | null;
}

/** The stream of one unique value of one scope. */
export const reservation = aggregate({
  name: 'reservation',
  scope: 'environment',
  clock: 'system',
  events,
  initial: { holder: null } as ReservationState,
  evolve(state, event): ReservationState {
    switch (event.type) {
      case 'ValueClaimed':
        return {
          holder: {
            claimId: event.data.claim_id,
            owner: event.data.owner,
            since: event.stamp.occurred_at,
          },
        };
      case 'ValueReleased':
        return state.holder?.claimId === event.data.claim_id ? { holder: null } : state;
      default:
        return event satisfies never;
    }
  },
});

/**
 * The stream of a unique value. Its name follows from the value, so all that want the value come to
 * the same stream; hashed, because a value is a caller's free text.
 */
export function reservationPlace(
  category: string,
  scope: string,
  value: Pick<UniqueValue, 'name' | 'value'>,
): StreamPlace {
  return placeOf(reservation, scope, hashOf([category, value.name, value.value]).slice(0, 40));
}
