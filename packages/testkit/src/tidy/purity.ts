import { isTest, sliceOf } from './names.ts';
import { matchesOf, type Rule, type Source, type Violation } from './source.ts';

/** Names that make the result of code depend on more than its arguments, or money inexact. */
const IMPURE = [
  'Date.now',
  'new Date(',
  'Math.random',
  'performance.',
  'process.',
  'randomBytes',
  'randomFill',
  'randomUUID',
  'getRandomValues',
  'setTimeout(',
  'setInterval(',
  'fetch(',
  'console.',
  'parseFloat',
  'parseInt',
  'Number(',
] as const;

interface Exception {
  readonly path: string;
  readonly what: (typeof IMPURE)[number];
  readonly reason: string;
}

/** Each exception has a reason; one that nothing needs any more is itself a violation. */
const EXCEPTIONS: readonly Exception[] = [
  {
    path: 'packages/kernel/src/id.ts',
    what: 'randomFill',
    reason: 'the one source of new ids; everything else gets ids as arguments',
  },
  {
    path: 'packages/kernel/src/instant.ts',
    what: 'new Date(',
    reason: 'turns a given count of milliseconds into text; does not read the clock',
  },
  {
    path: 'packages/kernel/src/money.ts',
    what: 'Number(',
    reason: 'the count of fraction digits of a currency, which is no amount',
  },
  {
    path: 'packages/modules/src/documents/pdf/paper.ts',
    what: 'new Date(',
    reason: 'turns a given instant into what the PDF library takes; does not read the clock',
  },
  {
    path: 'packages/modules/src/exports/formats/parquet.ts',
    what: 'new Date(',
    reason: 'turns a given instant into what the Parquet library takes; does not read the clock',
  },
  {
    path: 'packages/modules/src/stripe/amounts.ts',
    what: 'Number(',
    reason: 'whole units as the client of Stripe wants them, refused where a number is not exact',
  },
  {
    path: 'packages/webhooks/src/sending/retry.ts',
    what: 'Number(',
    reason: 'seconds of a Retry-After header, checked to be a few digits',
  },
  {
    path: 'packages/webhooks/src/endpoint/sealing.ts',
    what: 'randomBytes',
    reason: 'a sealed secret needs a nonce that never comes twice; nothing is decided with it',
  },
  {
    path: 'packages/webhooks/src/sending/target-policy.ts',
    what: 'Number(',
    reason: 'a port of a parsed URL',
  },
];

/** By their role these files of a slice touch the world; so do their namesakes with a prefix. */
const ROLE_NAMES = /(?:^|-)(?:routes|queries|projection|policies|index|sender|store)\.ts$/;

/** The rooms of the webhooks that decide; the worker carries their decisions out. */
const WEBHOOK_ROOMS = /^packages\/webhooks\/src\/(?:delivery|endpoint|queue|sending|task)\//;

/**
 * The kernel, and the code of a slice that decides and folds, is pure: clock, ids and randomness arrive
 * as arguments, and money is never a floating-point number. So a replay gives the same result.
 */
export const decidingCodeIsPure: Rule = (sources) => checkPurity(sources, EXCEPTIONS);

export function checkPurity(
  sources: readonly Source[],
  exceptions: readonly Exception[],
): Violation[] {
  const used = new Set<Exception>();
  const violations = sources.filter(mustBePure).flatMap((source) =>
    IMPURE.flatMap((what) => {
      const found = matchesOf(source.scanned?.code ?? '', patternOf(what));
      const exception = exceptions.find((each) => each.path === source.path && each.what === what);
      if (exception !== undefined && found.length > 0) used.add(exception);
      if (exception !== undefined) return [];
      const message = `${what} in a file that must be pure (testkit/src/tidy/purity.ts)`;
      return found.map(({ line }) => ({ path: source.path, line, message }));
    }),
  );
  const unused = exceptions.filter(
    (each) => !used.has(each) && sources.some(({ path }) => path === each.path),
  );
  return [
    ...violations,
    ...unused.map(({ path, what }) => ({
      path,
      line: 1,
      message: `does not need its exception for ${what} any more`,
    })),
  ];
}

function mustBePure({ path, scanned }: Source): boolean {
  if (scanned === undefined || isTest(path)) return false;
  if (path.startsWith('packages/kernel/src/')) return true;
  const name = path.split('/').at(-1) ?? '';
  const isOfSlice = sliceOf(path) !== undefined || WEBHOOK_ROOMS.test(path);
  return isOfSlice && !ROLE_NAMES.test(name);
}

/** The words as they stand, not as a part of longer ones such as `wireNumber(`. */
function patternOf(what: string): RegExp {
  return new RegExp(`(?<![\\w.$])${what.replace(/[.()]/g, '\\$&')}`, 'g');
}
