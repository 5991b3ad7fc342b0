/** The choice of events of `$all` for a filtered read or subscription. */
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { limits } from './limits.ts';
import { streamNameOf, typeOf } from './record.ts';

/** A compiled filter of `$all`. */
export interface Filter {
  /** Tells whether the event in this log record is delivered; links are judged as they are. */
  matches(record: Buffer): boolean;
  /** After this many considered events the subscriber gets a checkpoint. */
  readonly checkpointInterval: number;
}

const DEFAULT_WINDOW = 32;

/** Compiles the filter of a request, or names its fault. */
export function compileFilter(
  options: ReadReq.Options.FilterOptions,
): Filter | { readonly problem: string } {
  const multiplier = options.getCheckpointintervalmultiplier();
  if (multiplier < 1) return { problem: 'the checkpoint interval multiplier must be positive' };
  const window = options.hasMax() ? options.getMax() : DEFAULT_WINDOW;
  if (window < 1) return { problem: 'the filter window must be positive' };

  const expression = options.getStreamIdentifier() ?? options.getEventType();
  if (expression === undefined) return { problem: 'a filter needs an expression' };
  const subject = options.hasStreamIdentifier() ? streamNameOf : typeOf;
  const matcher = compileExpression(expression.getRegex(), expression.getPrefixList());
  if ('problem' in matcher) return matcher;
  return {
    matches: (record) => matcher.test(subject(record)),
    checkpointInterval: window * multiplier,
  };
}

type Matcher = { test(subject: Buffer): boolean } | { readonly problem: string };

function compileExpression(regex: string, prefixes: readonly string[]): Matcher {
  if (regex !== '') return compileRegex(regex);
  if (prefixes.length === 0) return { problem: 'a filter needs a regular expression or a prefix' };
  if (prefixes.length > limits.filterPrefixes)
    return { problem: 'the filter has too many prefixes' };
  // A subscriber may name many prefixes, and every event is compared: most of them begin with another byte.
  const byFirstByte = Map.groupBy(
    prefixes.map((prefix) => Buffer.from(prefix)),
    ([first]) => first,
  );
  const ofAll = byFirstByte.has(undefined);
  return {
    test: (subject) =>
      ofAll ||
      (byFirstByte.get(subject[0])?.some((prefix) => startsWith(subject, prefix)) ?? false),
  };
}

function compileRegex(regex: string): Matcher {
  if (regex.length > limits.filterRegexCharacters) {
    return { problem: 'the regular expression of the filter is too long' };
  }
  try {
    const compiled = new RegExp(regex);
    return { test: (subject) => compiled.test(subject.toString()) };
  } catch {
    return { problem: 'the regular expression of the filter is malformed' };
  }
}

function startsWith(subject: Buffer, prefix: Buffer): boolean {
  if (subject.length < prefix.length) return false;
  for (let at = 0; at < prefix.length; at += 1) if (subject[at] !== prefix[at]) return false;
  return true;
}
