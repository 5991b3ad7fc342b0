import { isTest } from './names.ts';
import { matchesOf, type Rule, type Source, type Violation } from './source.ts';

/** Packages of which processes of the service are made. */
const SERVED =
  /^(?:packages\/(?:kernel|engine|webhooks|modules)|apps\/(?:api|projector|webhooks))\//;
const READING = /(?<![\w.$])(?:Date\.now\b|new Date\(\))/g;
const REPLACING =
  /(?<![\w.$])Date\.now\s*=(?!=)|globalThis\.Date\b|class\s+\w+\s+extends\s+Date\b|(?<![\w.$])Date\s*=(?!=)/g;

/** The files that may read the system's clock, each with the reason why billing does not depend on it. */
const READERS: Readonly<Record<string, string>> = {
  'packages/engine/src/define/clock.ts': 'the clock of environments without a test clock',
  'packages/engine/src/decide/streams.ts': 'aggregates whose events keep the system time (D51)',
  'packages/engine/src/decide/system-context.ts': 'the time within an id drawn at random',
  'packages/engine/src/consume/due-work.ts': 'due work of environments without a test clock',
  'packages/engine/src/http/steps.ts': 'the arrival of a request',
  'packages/engine/src/http/connections.ts': 'the time within the id of a refused connection',
  'packages/engine/src/gateway/reconcile-gateway.ts': 'the expiry of claims at the broker',
  'packages/engine/src/log/append-call.ts': 'the deadline that the event store is told',
  'packages/engine/src/members/member-post.ts': 'the age of a message between processes',
  'packages/engine/src/nats/nats-publisher.ts': 'a deadline for answers of the broker',
  'packages/engine/src/relay/progress.ts': 'a metric',
  'packages/engine/src/operations/trusted-time.ts': "the comparison with the event store's clock",
  'packages/engine/src/stream-cache/snapshot-folder.ts': 'the age of files in a cache',
  'packages/webhooks/src/sending/sender.ts': 'the date that a Retry-After header counts from',
  'packages/webhooks/src/worker/dispatcher.ts': 'the timestamp of a signature',
  'packages/webhooks/src/worker/metrics.ts': 'a metric',
  'apps/api/src/authentication.ts': 'the expiry of API keys',
  'apps/api/src/index.ts': 'the age of what reads show',
};

/**
 * Billing goes by the clock of each environment, so few files may read the system's; and nobody replaces
 * `Date`, since tests have test clocks.
 */
export const timeComesFromClocks: Rule = (sources) => checkTime(sources, READERS);

export function checkTime(
  sources: readonly Source[],
  readers: Readonly<Record<string, string>>,
): Violation[] {
  return sources.flatMap((source) => {
    const { path, scanned } = source;
    const code = scanned?.code ?? '';
    const replaced = matchesOf(code, REPLACING).map(({ line }) => ({
      path,
      line,
      message: 'replaces Date: use a test clock, or take the time as an argument',
    }));
    if (!SERVED.test(path) || isTest(path)) return replaced;
    const read = matchesOf(code, READING);
    if (path in readers) {
      const message = 'is no longer a reader of the clock (testkit/src/tidy/system-time.ts)';
      return read.length > 0 ? replaced : [...replaced, { path, line: 1, message }];
    }
    const message =
      "reads the system's clock: ask the environment's (testkit/src/tidy/system-time.ts)";
    return [...replaced, ...read.map(({ line }) => ({ path, line, message }))];
  });
}
