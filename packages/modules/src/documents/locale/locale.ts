import {
  type Currency,
  decimal,
  divide,
  fractionDigits,
  type Instant,
  millisecondsOf,
  minorUnits,
} from '@counterfoil/kernel';
import { type Language, languages, type Texts, textsOf } from './texts.ts';

/** The language of a document, with the way in which its reader writes figures and dates. */
export interface Locale {
  readonly language: Language;
  readonly texts: Texts;
  readonly zone: string;
  readonly money: (amount: string, currency: Currency) => string;
  /** A plain figure, with all its digits. */
  readonly quantity: (figure: string) => string;
  readonly percentage: (percentage: string) => string;
  readonly date: (instant: Instant) => string;
  readonly time: (instant: Instant) => string;
  /** The days from the first to the last of a period whose end is the start of the next one. */
  readonly days: (start: Instant, end: Instant) => string;
}

const longestTag = 35;

/** The tag in its canonical form where it is well formed and in a language that documents are written in; else null. */
function knownTag(tag: string | undefined): string | null {
  if (tag === undefined || tag.length > longestTag) return null;
  try {
    const locale = new Intl.Locale(tag.trim().replaceAll('_', '-'));
    // Extensions would choose other digits and calendars; language and region decide here.
    const { language, region } = locale;
    if (!languages.some((known) => known === language)) return null;
    return region === undefined ? language : `${language}-${region}`;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The first of some tags (`de`, `fr-CH`) in which documents are written; English where there is none. */
export const chosenTag = (...tags: readonly (string | undefined)[]): string =>
  tags.map(knownTag).find((tag) => tag !== null) ?? 'en';

/** Intl takes a decimal text as it is, with all its digits; no figure goes through a double. */
const exact = (figure: string): Intl.StringNumericLiteral => figure as Intl.StringNumericLiteral;

const mostDigits = 100;

/** The digits that a figure needs after its point, and at least so many. */
const digitsOf = (figure: string, least: number) => {
  const digits = Math.min(mostDigits, Math.max(least, fractionDigits(decimal(figure))));
  return { minimumFractionDigits: least, maximumFractionDigits: digits };
};

/**
 * The locale of a tag that `chosenTag` gave, in a time zone. Amounts have at least the digits of their currency, and
 * more where the amount has more: nothing is rounded.
 */
export function localeOf(tag: string, zone: string): Locale {
  const language = languages.find((known) => tag.split('-')[0] === known) ?? 'en';
  const dates = new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeZone: zone });
  const times = new Intl.DateTimeFormat(tag, {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone: zone,
  });
  const makers = new Map<string, Intl.NumberFormat>();
  const format = (figure: string, options: Intl.NumberFormatOptions): string => {
    const key = JSON.stringify(options);
    const maker = makers.get(key) ?? new Intl.NumberFormat(tag, options);
    makers.set(key, maker);
    return maker.format(exact(figure));
  };
  const date = (instant: Instant): string => dates.format(millisecondsOf(instant));
  return {
    language,
    texts: textsOf[language],
    zone,
    money: (amount, currency) =>
      format(amount, {
        style: 'currency',
        currency: currency.toUpperCase(),
        ...digitsOf(amount, minorUnits(currency)),
      }),
    quantity: (figure) => format(figure, digitsOf(figure, 0)),
    percentage: (percentage) => {
      const share = divide(decimal(percentage), decimal('100'), mostDigits).toFixed();
      const { maximumFractionDigits } = digitsOf(percentage, 0);
      return format(share, { style: 'percent', maximumFractionDigits });
    },
    date,
    time: (instant) => times.format(millisecondsOf(instant)),
    days: (start, end) => {
      const from = date(start);
      const to = dates.format(Math.max(millisecondsOf(start), millisecondsOf(end) - 1));
      return from === to ? from : `${from} – ${to}`;
    },
  };
}
