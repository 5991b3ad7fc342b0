import { createHash } from 'node:crypto';
import type { History } from '../history.ts';
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

/**
 * I8: every event has the content that was hashed, and follows the one before it: nothing can be
 * changed.
 */
export const checkTampering = checker('I8', (history: History) => {
  let prev = '0'.repeat(64);
  for (const [revision, event] of history.entries()) {
    must(event.revision === revision, event, `stands where revision ${revision} should be`);
    const { hash, ...metadata } = event.metadata;
    must(metadata.prev === prev, event, 'does not follow on the event before it');
    const { id, type, stream, data } = event;
    const text = canonical({ id, type, stream, revision, data, metadata });
    const actual = createHash('sha256').update(text).digest('hex');
    must(actual === hash, event, 'is not what was hashed');
    prev = hash;
  }
});
