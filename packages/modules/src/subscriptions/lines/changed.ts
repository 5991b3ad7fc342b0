import { type Instant, metadataSchema, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { type Line, type LineData, lineData, newLine } from './line.ts';

const instant = z.string().transform((text) => text as Instant);

/** Lines that are added, end, follow one another, or get other notes. */
export const linesChangedData = z.object({
  customer_id: referenceSchema('cust'),
  begun: z.array(lineData),
  ended: z.array(
    z.object({
      id: lineData.shape.id,
      end_date: instant,
      /** The line that takes its place, with what was charged for time that still runs. */
      followed_by: lineData.shape.id.nullable(),
    }),
  ),
  noted: z.array(z.object({ id: lineData.shape.id, metadata: metadataSchema })),
});
export type LinesChanged = z.output<typeof linesChangedData>;

/** The lines of a subscription after a change. */
export function linesAfter(lines: readonly Line[], change: LinesChanged): readonly Line[] {
  const isFollowed = (id: string) =>
    change.ended.some((each) => each.id === id && each.followed_by !== null);
  const chargedBefore = (id: string) => {
    const before = change.ended.find(({ followed_by }) => followed_by === id)?.id;
    return lines.find((line) => line.id === before)?.charged ?? [];
  };
  return [
    ...lines.map((line) => ({
      ...line,
      ...changeOf(change, line.id),
      charged: isFollowed(line.id) ? [] : line.charged,
    })),
    ...change.begun.map((line) => ({ ...newLine(line), charged: chargedBefore(line.id) })),
  ];
}

/** The members of a line that a change gives another value. */
export function changeOf(
  { ended, noted }: LinesChanged,
  id: string,
): Partial<Pick<LineData, 'end_date' | 'metadata'>> {
  const end = ended.find((each) => each.id === id);
  const note = noted.find((each) => each.id === id);
  return {
    ...(end && { end_date: end.end_date }),
    ...(note && { metadata: note.metadata }),
  };
}

/** The lines that a change is about. */
export const changedIds = ({ begun, ended, noted }: LinesChanged): readonly string[] => [
  ...new Set([...begun, ...ended, ...noted].map(({ id }) => id)),
];
