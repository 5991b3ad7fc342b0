import type { RecordedFacts } from '@counterfoil/engine/define';
import { identityOf, textsOf, type UsageEvent, type UsageIdentity } from './usage-event.ts';

/** A usage event with its place in the log. */
export interface PlacedUsage {
  readonly event: UsageEvent;
  readonly identity: UsageIdentity;
  /** Its properties in canonical JSON. */
  readonly properties: string | null;
  readonly environmentId: string;
  readonly recordedAt: string;
  readonly position: string;
  /** Its number among the facts of its event of the log. */
  readonly number: number;
  /** The reservation that has let it through, and the use that it is of that; absent for plain usage. */
  readonly reservation?: { readonly id: string; readonly quantity: string };
}

/** The usage events of an event of the log. */
export const placedIn = ({
  environmentId,
  recordedAt,
  position,
  facts,
}: RecordedFacts<UsageEvent>): readonly PlacedUsage[] =>
  facts.map((event, number) => placedAt({ environmentId, recordedAt, position, number }, event));

/** A usage event in a place in the log. */
export function placedAt(
  place: Pick<PlacedUsage, 'environmentId' | 'recordedAt' | 'position' | 'number'>,
  event: UsageEvent,
): PlacedUsage {
  const texts = textsOf(event);
  return { event, identity: identityOf(event, texts), properties: texts.properties, ...place };
}
