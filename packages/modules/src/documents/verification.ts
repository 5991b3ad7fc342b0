import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  type Currency,
  currencySchema,
  decimal,
  type Instant,
  invalidField,
  textOf,
} from '@counterfoil/kernel';
import { z } from 'zod';

/** The facts that a code stands for. Each of them is printed on the document, as it is written here. */
export interface ProvenFacts {
  /** Id of the invoice or the wallet. */
  readonly id: string;
  /** Number of the invoice; the period of a statement. */
  readonly number: string;
  /** The instant of issue. */
  readonly issued: Instant;
  readonly currency: Currency;
  /** Total of an invoice; credits at the end of a statement. */
  readonly total: string;
}

/** Letters and digits that nobody takes for each other. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const codeBytes = 10;

const groupsOf = (text: string): string => text.match(/.{4}/g)?.join('-') ?? '';

/** The facts as the check wants them: an exact decimal without zeros at its end, and the currency in lower case. */
export const canonicalFacts = ({ total, ...facts }: ProvenFacts): ProvenFacts => ({
  ...facts,
  total: textOf(decimal(total)),
});

/**
 * The verification code of a document: 80 bits of an HMAC over its facts, as four groups of four characters. Nobody
 * without the server's secret can make one, and nobody can guess one.
 */
export function verificationCode(secret: Uint8Array, given: ProvenFacts): string {
  const { id, number, issued, currency, total } = canonicalFacts(given);
  const text = JSON.stringify([id, number, issued, currency, total]);
  const mac = createHmac('sha256', secret).update(`document\n${text}`).digest();
  const bits = [...mac.subarray(0, codeBytes)].map((byte) => byte.toString(2).padStart(8, '0'));
  const letters = bits.join('').match(/.{5}/g) ?? [];
  return groupsOf(letters.map((five) => alphabet[Number.parseInt(five, 2)]).join(''));
}

/** A code as people write it, in the one form: without separators, and with the digits that were meant. */
const readCode = (written: string): string =>
  groupsOf(
    written
      .toUpperCase()
      .replaceAll(/[\s–—-]/g, '')
      .replaceAll('O', '0')
      .replaceAll(/[IL]/g, '1'),
  );

const text = (length: number) => z.string().trim().min(1).max(length);

const questionSchema = z.strictObject({
  code: text(40),
  id: text(64),
  number: text(255),
  issued: text(30).regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
  currency: currencySchema,
  total: text(60).regex(/^-?\d{1,40}(\.\d{1,18})?$/),
});

const faults = {
  code: 'must be the verification code of the document',
  id: 'must be the document id',
  number: 'must be the number, or of a statement the period, as it is printed beside the code',
  issued: 'must be the instant beside the code, such as 2026-01-31T09:30:00.000Z',
  currency: 'must be the currency, such as usd',
  total: 'must be the total beside the code, such as 1234.5',
} as const;

/** Tells whether a code is the one of the facts of a document. Throws 400 for a question that is not whole. */
export function isGenuine(secret: Uint8Array, query: Readonly<Record<string, string>>): boolean {
  const read = questionSchema.safeParse(query);
  if (!read.success) {
    const [issue] = read.error.issues;
    const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
    const name = String(unknown ?? issue?.path[0] ?? 'code');
    const fault = Object.entries(faults).find(([known]) => known === name)?.[1];
    throw invalidField(`/${name}`, fault ?? 'is not a part of the question');
  }
  const { code, issued, ...facts } = read.data;
  const right = verificationCode(secret, { ...facts, issued: issued as Instant });
  const given = Buffer.from(readCode(code));
  const wanted = Buffer.from(right);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/**
 * The answer to whoever holds a document and asks whether it is genuine. It needs no key and reads no record: it says
 * nothing that the asker has not told.
 */
export function checkDocument(secret: Uint8Array) {
  return (query: Readonly<Record<string, string>>) =>
    isGenuine(secret, query)
      ? { genuine: true, message: 'The service has issued a document with these facts.' }
      : { genuine: false, message: 'The code does not belong to these facts.' };
}
