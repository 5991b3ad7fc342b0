import type { PublicEvents, PublicEventType, PublicEventTypes } from '@counterfoil/engine/define';
import { BrokenInvariant } from '@counterfoil/kernel';
import { z } from 'zod';

/** Every type of public event of the slices, with its meaning and the schema of its body. */
export type EventTypes = ReadonlyMap<string, PublicEventType>;

/**
 * The types of all publicEvents, in the order of their names. Throws `BrokenInvariant` when two
 * publicEvents give one name to two types: its schema would be that of one of them.
 */
export function eventTypesOf(publicEvents: readonly Pick<PublicEvents, 'types'>[]): EventTypes {
  const types = new Map<string, PublicEventType>();
  const entries = publicEvents.flatMap(({ types: own }) => Object.entries(own));
  for (const [name, type] of entries.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const known = types.get(name) ?? type;
    if (known !== type) throw new BrokenInvariant(`two publicEvents give ${name}`);
    types.set(name, type);
  }
  return types;
}

/**
 * Returns where the schema of a type is served, relative to the host. Messages name it
 * (`ce-dataschema`).
 */
export const schemaUrl = (type: string): string => `/v1/event-types/${type}/schema`;

const truncatedSchema = z
  .literal(true)
  .optional()
  .meta({ description: 'The body was too long: the records are cut down to their ids' });

/** JSON Schema (2020-12) of the body of an event: of a webhook, and of a message on NATS. */
export const bodySchema = (name: string, { summary, body }: PublicEventType): object =>
  z.toJSONSchema(
    z
      .object({ event_type: z.literal(name), ...body.shape, truncated: truncatedSchema })
      .meta({ title: name, description: summary }),
    { io: 'output', unrepresentable: 'any' },
  );

/** All schemas, by type. */
export const bodySchemas = (types: EventTypes): Readonly<Record<string, object>> =>
  Object.fromEntries([...types].map(([name, type]) => [name, bodySchema(name, type)]));

export type { PublicEventTypes };
