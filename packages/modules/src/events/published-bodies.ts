import type { PublicEventType } from '@counterfoil/engine/define';
import { invariant } from '@counterfoil/kernel';
import { bodySchema, type EventTypes } from './event-type.ts';

type Schemas = Record<string, unknown>;

/** Writes references to the definitions beside a schema as references to shared schemas. */
const withSharedReferences = (schema: object): Schemas =>
  JSON.parse(
    JSON.stringify(schema, (name, value: unknown) =>
      name === '$ref' && typeof value === 'string'
        ? value.replace('#/$defs/', '#/components/schemas/')
        : value,
    ),
  );

/**
 * The body of a type. The definitions that its schema brings along are moved into `shared`: in this
 * document, unlike in one of a schema alone, a reference begins at the root. Throws `BrokenInvariant`
 * when two types define one name differently.
 */
function payloadOf(name: string, type: PublicEventType, shared: Schemas): Schemas {
  const { $defs, $schema: _version, ...body } = withSharedReferences(bodySchema(name, type));
  for (const [definition, schema] of Object.entries($defs ?? {})) {
    invariant(
      JSON.stringify(shared[definition] ?? schema) === JSON.stringify(schema),
      `two events define ${definition}`,
    );
    shared[definition] = schema;
  }
  return body;
}

/**
 * The bodies of all events for a document of its own: those of each type, and the schemas that they share,
 * which are its `components.schemas`. Throws `BrokenInvariant` when two types define one name differently.
 */
export function publishedBodies(types: EventTypes) {
  const schemas: Schemas = {};
  const bodies = Object.fromEntries(
    [...types].map(([name, type]) => [
      name,
      { summary: type.summary, body: payloadOf(name, type, schemas) },
    ]),
  );
  return { bodies, schemas };
}
