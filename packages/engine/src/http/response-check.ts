import { BrokenInvariant } from '@counterfoil/kernel';
import type { z } from 'zod';
import { fieldProblemsOf, pointerOf } from './issues.ts';

/**
 * Compares a response, as the caller would receive it, with the schema of its route. Throws
 * `BrokenInvariant` when it does not fit or has members that the schema does not know: the
 * documentation and the typed client are made from the schema, so the two must not drift apart.
 */
export function checkResponse(route: string, schema: z.ZodType, body: unknown): void {
  const wire: unknown = JSON.parse(JSON.stringify(body));
  const parsed = schema.safeParse(wire);
  if (!parsed.success) {
    const places = fieldProblemsOf(parsed.error.issues).map(
      ({ pointer, message }) => `${pointer || '/'} ${message}`,
    );
    throw new BrokenInvariant(`the response of ${route} breaks its schema: ${places.join('; ')}`);
  }
  const extra = undocumented(wire, parsed.data, []);
  if (extra !== null) {
    throw new BrokenInvariant(`the response of ${route} has ${extra}, which its schema has not`);
  }
}

/** Pointer to the first member that parsing dropped; null when it dropped none. */
function undocumented(wire: unknown, parsed: unknown, path: readonly string[]): string | null {
  if (typeof wire !== 'object' || wire === null) return null;
  if (typeof parsed !== 'object' || parsed === null) return null;
  const known = parsed as Readonly<Record<string, unknown>>;
  for (const [key, value] of Object.entries(wire)) {
    const place = [...path, key];
    if (!Object.hasOwn(known, key)) return pointerOf(place);
    const found = undocumented(value, known[key], place);
    if (found !== null) return found;
  }
  return null;
}
