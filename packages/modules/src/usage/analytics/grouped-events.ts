import type { AskingContext } from '@counterfoil/engine/define';
import type { Instant, Span } from '@counterfoil/kernel';
import { type SqlBool, sql } from 'kysely';
import { accountNumbers } from '../numbers.ts';
import { readKept } from '../retention/refuse-dropped.ts';
import { usageTables } from '../tables.ts';
import type { BreakdownQuestion } from './breakdown.ts';
import { type EventChoice, eventsOf } from './event-choice.ts';
import type { GroupedEvent } from './folded-events.ts';

/** Events that one statement reads. */
const portion = 20_000;

/**
 * The events of a span in the order of their time and, at one instant, of the log, page by page. Throws where some are
 * dropped.
 */
export async function* groupedEvents(
  context: AskingContext,
  question: Pick<BreakdownQuestion, 'of' | 'filters' | 'sources'>,
  span: Span,
): AsyncGenerator<GroupedEvent> {
  const accounts = await accountNumbers(context, question.of.customer);
  const choice = { ...question, accounts };
  let after: Row | null = null;
  for (;;) {
    const page = (): Promise<readonly Row[]> => selectPage(context, choice, span, after);
    const rest = { ...span, start: (after?.at ?? span.start) as Instant };
    const about = { eventName: question.of.eventName, spans: [rest] };
    const rows: readonly Row[] = await readKept(context, about, page);
    for (const { at, source, properties } of rows) {
      const read = properties === null ? {} : JSON.parse(properties);
      yield { at: at as Instant, source, properties: read };
    }
    if (rows.length < portion) return;
    after = rows.at(-1) ?? null;
  }
}

interface Row {
  readonly at: string;
  readonly position: string;
  readonly number: number;
  readonly source: string | null;
  readonly properties: string | null;
}

const selectPage = (
  context: AskingContext,
  choice: EventChoice,
  { start, end }: Span,
  after: Row | null,
): Promise<readonly Row[]> =>
  context.facts.query(usageTables, (from) =>
    eventsOf(context, from, choice)
      .select(['event.at', 'event.position', 'event.number', 'event.source', 'event.properties'])
      .where('event.at', '>=', start)
      .where('event.at', '<', end)
      .$if(after !== null, (rest) =>
        rest.where(
          sql<SqlBool>`(event.at, event.position, event.number)
            > (${after?.at}::timestamptz, ${after?.position}::bigint, ${after?.number}::int)`,
        ),
      )
      .orderBy('event.at')
      .orderBy('event.position')
      .orderBy('event.number')
      .limit(portion),
  );
