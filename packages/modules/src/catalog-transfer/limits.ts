import { invalidOperation } from '@counterfoil/kernel';

/** Bytes of JSON that the event of an import may have; an append takes two mebibytes. */
export const planBytesMaximum = 1_800_000;

/** Bytes of JSON that go to one stream, where each event gets its metadata as well. */
export const stepBytesMaximum = 900_000;

/** Throws 400 when something would be too large for the log. */
export function refuseTooLarge(what: string, value: unknown, limit: number): void {
  const size = Buffer.byteLength(JSON.stringify(value));
  if (size <= limit) return;
  throw invalidOperation(
    `${what} is too large: ${size} bytes of events, at most ${limit}. Import some sections, or ` +
      'some plans, at a time.',
    { reason: 'limit_reached', size, limit },
  );
}
