import { hash } from 'node:crypto';
import {
  canonicalJson,
  type Instant,
  instantSchema,
  invalidField,
  Problem,
  shiftedBy,
} from '@counterfoil/kernel';
import { z } from 'zod';
import type { SubscriptionDecision } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import type { Settlement } from '../settlement/index.ts';
import { settlementSum } from '../view.ts';

/** Minutes for which a quote holds. */
export const quoteMinutes = 15;

/** The figures of a settlement that a preview has shown, and the instant that they were worked out for. */
export interface Quote {
  readonly at: Instant;
  readonly charge_amount: string;
  readonly credit_amount: string;
  /** Of all lines, so that other figures with the same sums are told apart. */
  readonly digest: string;
}

const quoteData = z.tuple([instantSchema, z.string(), z.string(), z.string()]);

/** The id of a quote holds what it binds: nothing is kept of it. */
export const quoteId = ({ at, charge_amount, credit_amount, digest }: Quote): string =>
  `quote_${Buffer.from(JSON.stringify([at, charge_amount, credit_amount, digest])).toString('base64url')}`;

/** Reads the id of a quote; null for what is none. */
function readQuote(id: string): Quote | null {
  if (!id.startsWith('quote_')) return null;
  const read = quoteData.safeParse(parsed(Buffer.from(id.slice(6), 'base64url').toString()));
  if (!read.success) return null;
  const [at, charge_amount, credit_amount, digest] = read.data;
  return { at, charge_amount, credit_amount, digest };
}

/** The quote that a request is bound to; null where it names none. Throws a Problem for what is no quote. */
export function givenQuote(id: string | null | undefined): Quote | null {
  if (!id) return null;
  const quote = readQuote(id);
  if (quote === null) throw invalidField('/quote_id', 'is no quote');
  return quote;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The end of the time in which a quote can be executed. */
export const quoteExpiry = ({ at }: Pick<Quote, 'at'>): Instant =>
  shiftedBy(at, quoteMinutes * 60_000);

/** The quote of a decision for an instant. */
export function quoteOf(events: readonly SubscriptionEvent[], at: Instant): Quote {
  const { charge_amount, credit_amount } = settlementSum(events);
  return { at, charge_amount, credit_amount, digest: digestOf(events) };
}

/**
 * Binds a decision to a quote: it is carried out if it settles what the quote shows, else refused with what is different
 * now. The decision has to take the instant of the quote for its own.
 *
 * @param quotedOf the events of a decision that a quote is of
 * @throws Problem version_conflict
 */
export const boundTo =
  (
    quote: Quote | null,
    decision: SubscriptionDecision,
    quotedOf: (events: readonly SubscriptionEvent[]) => readonly SubscriptionEvent[],
  ): SubscriptionDecision =>
  (state, now) => {
    if (quote === null) return decision(state, now);
    const quoted = { charge_amount: quote.charge_amount, credit_amount: quote.credit_amount };
    const expires = quoteExpiry(quote);
    if (now > expires) {
      throw new Problem('version_conflict', `The quote held until ${expires}: preview it again.`, {
        details: { reason: 'quote_expired', quote_expires_at: expires, quoted },
      });
    }
    const events = decision(state, now);
    const found = quoteOf(quotedOf(events), quote.at);
    if (found.digest === quote.digest) return events;
    throw new Problem(
      'version_conflict',
      'The subscription has changed since the quote was made.',
      {
        details: {
          reason: 'quote_outdated',
          quoted,
          current: { charge_amount: found.charge_amount, credit_amount: found.credit_amount },
        },
      },
    );
  };

/** The figures of all lines; ids of lines that do not exist yet are only told apart. */
function digestOf(events: readonly SubscriptionEvent[]): string {
  const lines = events.flatMap((event) =>
    event.type === 'SettlementRecorded' ? figuresOf(event.data) : [],
  );
  const places = new Map<string | null, number>();
  for (const { line_item_id } of lines) {
    if (!places.has(line_item_id)) places.set(line_item_id, places.size);
  }
  const figures = lines.map((line) => ({ ...line, line_item_id: places.get(line.line_item_id) }));
  return hash('sha256', canonicalJson(figures), 'base64url').slice(0, 22);
}

const figuresOf = ({ reason, lines }: Settlement) => lines.map((line) => ({ reason, ...line }));
