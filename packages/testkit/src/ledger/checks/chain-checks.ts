import { createHash } from 'node:crypto';
import { type History, wholeData } from '../history.ts';
import { checker, must } from './fault.ts';

/** RFC 8785 for the values of a ledger: objects by sorted names, everything else as JSON has it. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.join()}}`;
}

/** Tells whether two values have the same members; mostly they are the same objects. */
function hasSameMembers(one: object, other: object): boolean {
  const members = Object.entries(one);
  const values: Readonly<Record<string, unknown>> = { ...other };
  return (
    members.length === Object.keys(values).length &&
    members.every(([name, value]) => {
      return value === values[name] || canonical(value) === canonical(values[name]);
    })
  );
}

/** Metadata as the log keeps it: without what the name of the stream and the other members say. */
function asKept(whole: Omit<History[number]['metadata'], 'hash'>, stream: string): object {
  const scope = stream.replace(/^.*-/, '').replace(/\..*$/, '');
  const implied: Record<string, unknown> = {
    environment_id: whole.tenant_id === scope ? null : scope,
    tenant_id: scope,
    schema_version: 1,
    $causationId: whole.$correlationId,
  };
  const { request, ...members } = whole;
  const kept = Object.entries(members).filter(([name, value]) => implied[name] !== value);
  if (!request) return Object.fromEntries(kept);
  const { events, ...rest } = request;
  return Object.fromEntries([...kept, ['request', events === 1 ? rest : request]]);
}

/**
 * I8: every event has the content that was hashed, and follows the one before it: nothing can be
 * changed.
 */
export const checkTampering = checker('I8', (history: History) => {
  let prev = '0'.repeat(64);
  for (const [revision, event] of history.entries()) {
    must(event.revision === revision, event, `stands where revision ${revision} should be`);
    const { hash, ...metadata } = event.metadata;
    const { id, type, stream, data, kept = data } = event;
    const isWhole = hasSameMembers(wholeData({ ...event, data: kept }), data);
    must(isWhole, event, 'is not what was hashed');
    const keptMetadata = asKept(metadata, stream);
    const content = { data: kept, metadata: keptMetadata, prev };
    const text = canonical({ id, type, stream, revision, ...content });
    const actual = createHash('sha256').update(text).digest('hex');
    must(actual === hash, event, 'is not what was hashed');
    prev = hash;
  }
});
