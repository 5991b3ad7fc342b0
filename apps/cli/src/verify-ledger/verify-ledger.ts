/**
 * Checks an exported wallet ledger, with nothing but the files of this folder, the export and a public key:
 *
 *   node verify-ledger.ts ledger.jsonl --key pub.pem --checkpoint earlier.json
 *
 * It shares no code with the service, reads no network and no database, and computes every hash,
 * balance and lot again. Node 24 runs it as it is. Under another name, linked or compiled it does the
 * same: exit code 0 is only ever given with the line `OK …`, 1 for a fault of the ledger, and 2 when
 * nothing could be checked, such as a file that is not there.
 *
 * To be read in this order: `figures.ts`, `lots.ts`, `book.ts` with the rules of a wallet, `proofs.ts` with the
 * chain and the signatures, and this file with the lines of an export.
 */
import { createReadStream, readFileSync, realpathSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { canonical, type Data, LedgerFault, must, names, shown, UnusableInput } from './figures.ts';
import { keptCheckpoints, Ledger, publicKey, signed } from './proofs.ts';

export { LedgerFault, UnusableInput };

const trailers = names('head checkpoint inclusion completeness consistency');
const hasMembers = (line: Data, wanted: string): boolean =>
  Object.keys(line).sort().join(' ') === wanted;

/**
 * Checks the lines of an export; returns a summary. With a public key (PEM) it also checks the signatures,
 * and with checkpoints kept from earlier (one, or the list that the API answers) that they still hold.
 * Throws a `LedgerFault` at the first fault, and `UnusableInput` for a text that is no key or checkpoint.
 */
export async function verifyLedger(
  lines: AsyncIterable<string> | Iterable<string>,
  keyText?: string,
  earlierText?: string,
): Promise<string> {
  const key = keyText === undefined ? null : publicKey(keyText);
  const kept = key && earlierText !== undefined ? keptCheckpoints(earlierText, key) : null;
  const ledger = new Ledger();
  let number = 0;
  for await (const text of lines) {
    number += 1;
    try {
      const line = JSON.parse(text);
      must(canonical(line) === text, 'is not in canonical form');
      if (number === 1) {
        must(line.format === 'counterfoil-ledger' && line.version === 1, 'is no ledger');
        must(hasMembers(line, 'format position stream version'), 'has other members than a header');
        ledger.stream = line.stream;
      } else if (line.type) ledger.event(line);
      else if (!trailers.some((name) => hasMembers(line, name)))
        must(false, 'is of an unknown kind');
      else if (line.head) ledger.end(line.head);
      else if (key && line.checkpoint) ledger.checkpoint = signed(line.checkpoint, key);
      else if (key && line.inclusion) ledger.inclusion(line.inclusion);
      else if (key && line.completeness) ledger.completeness(line.completeness);
      else if (kept && line.consistency) ledger.consistency(kept, line.consistency);
    } catch (error) {
      throw new LedgerFault(`line ${number}: ${(error as Error).message}`);
    }
  }
  const { book, hashes, isWhole, stream, checkpoint, covered, place, extended } = ledger;
  must(number > 0, 'the file is empty');
  must(isWhole, `the export is cut off after revision ${hashes.length - 1}`);
  must(!key || covered >= 0, 'there is no proof that a signed checkpoint includes this ledger');
  must(!checkpoint || place, 'there is no proof that no event was left out');
  must(!kept || extended, 'there is no proof that the earlier checkpoint still holds');
  const proof = checkpoint
    ? `signed up to revision ${covered} by ${checkpoint.id}${place}`
    : 'unsigned';
  const extension = extended ? `, which extends ${extended.id}` : '';
  const balance = `${hashes.length} events, credit balance ${shown(book.balance)}`;
  return `${stream}: ${balance}, ${proof}${extension}`;
}

async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(file, 'utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  must(rest === '', 'the last line is cut off');
}

const usage = 'node verify-ledger.ts ledger.jsonl [--key pub.pem [--checkpoint earlier.json]]';

/** The command line: prints one line that begins with OK, FAULT or ERROR, and sets the exit code. */
export async function main(args: string[]): Promise<void> {
  const options = { key: { type: 'string' }, checkpoint: { type: 'string' } } as const;
  const read = (file?: string) => (file === undefined ? file : readFileSync(file, 'utf8'));
  process.exitCode = 2;
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [ledger] = positionals;
    if (!ledger || positionals.length > 1) throw new UnusableInput(`usage: ${usage}`);
    if (values.checkpoint && !values.key) throw new UnusableInput('--checkpoint needs --key');
    const summary = await verifyLedger(linesOf(ledger), read(values.key), read(values.checkpoint));
    console.log(`OK ${summary}`);
    process.exitCode = 0;
  } catch (error) {
    const isFault = error instanceof LedgerFault;
    console.log(`${isFault ? 'FAULT' : 'ERROR'} ${(error as Error).message}`);
    if (isFault) process.exitCode = 1;
  }
}

/** Tells whether this file is the program that was started, under any name; in doubt it is. */
function isStarted(): boolean {
  if (typeof import.meta.main === 'boolean') return import.meta.main;
  const [started, self] = [process.argv[1], import.meta.filename];
  return !started || !self || realpathSync(started) === realpathSync(self);
}

if (isStarted()) void main(process.argv.slice(2));
