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
}

/** The usage events of an event of the log. */
export const placedIn = ({
  environmentId,
  recordedAt,
  position,
  facts,
}: RecordedFacts<UsageEvent>): readonly PlacedUsage[] =>
  facts.map((event, number) => {
    const texts = textsOf(event);
    const identity = identityOf(event, texts);
    const { properties } = texts;
    return { event, identity, properties, environmentId, recordedAt, position, number };
  });
