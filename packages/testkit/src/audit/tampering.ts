import { canonicalJson, hashOf, type Instant } from '@counterfoil/kernel';

interface EventLine {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>> & { readonly hash: string };
}

/** The lines with one of them put through a change of its parsed form. */
export const withLine = <Line extends object>(
  lines: readonly string[],
  number: number,
  change: (line: Line) => object,
): string[] => lines.with(number, canonicalJson(change(JSON.parse(lines[number] ?? ''))));

/**
 * The events of an export with one event's data changed and every hash from there on computed
 * again, as by somebody who can write to the log and knows how it is chained.
 */
export function rechained(
  lines: readonly string[],
  number: number,
  change: (data: Record<string, never>) => object,
  { type, occurred_at }: { readonly type?: string; readonly occurred_at?: Instant } = {},
): string[] {
  let prev = '0'.repeat(64);
  return lines.map((text, index) => {
    const line = JSON.parse(text);
    if ('head' in line) return canonicalJson({ head: { ...line.head, hash: prev } });
    if (!('type' in line)) return text;
    const event = line as EventLine;
    const { hash, ...metadata } = event.metadata;
    if (index < number) {
      prev = hash;
      return text;
    }
    const data = index === number ? change(event.data as Record<string, never>) : event.data;
    const isHere = index === number;
    const moved = isHere && occurred_at ? { ...metadata, occurred_at } : metadata;
    const changed = { ...event, data, type: isHere && type ? type : event.type };
    prev = hashOf({ ...changed, metadata: moved, prev });
    return canonicalJson({ ...changed, metadata: { ...moved, hash: prev } });
  });
}
