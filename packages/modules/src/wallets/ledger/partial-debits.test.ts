import { decimal, type Instant, Problem, RefusedWithEvents, textOf } from '@counterfoil/kernel';
import { callRoute, given, problemOf } from '@counterfoil/testkit';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bulkResults, moveInBulk } from '../bulk/bulk.ts';
import { debitCredits, loadCredits, settleDue, type WalletDecision } from '../decisions.ts';
import type { WalletEvent } from '../events.ts';
import { holdCredits } from '../holds/decisions.ts';
import { reverseEntry } from '../reversals/decisions.ts';
import { walletRoutes } from '../routes.ts';
import {
  after,
  at,
  create,
  debit,
  debitOf,
  details,
  history,
  holdOf,
  id,
  load,
  reversibleIn,
  story,
} from '../test-wallet.ts';
import { walletWorld } from '../test-wallet-world.ts';
import { cancelTopUp } from '../topups/decisions.ts';
import { type Wallet, wallet } from '../wallet.ts';
import { foldInto } from './chain.ts';

const test = suite('debits that take what is there');

const partial = (credits: string, effectiveAt?: Instant): WalletDecision =>
  debitCredits(id, {
    ...debitOf(credits, true),
    ...(effectiveAt === undefined ? {} : { effectiveAt }),
  });

type Debited = Extract<WalletEvent, { type: 'CreditsDebited' }>['data'];

/** The debits among events: what was asked for, taken, and drawn from each lot. */
const debits = (events: readonly WalletEvent[]) =>
  events.flatMap((event) => (event.type === 'CreditsDebited' ? [figures(event.data)] : []));
const figures = ({ credits_requested: requested, credits, drawn }: Debited) => [
  requested,
  credits,
  drawn.map((draw) => draw.credits),
];

for (const [asked, taken, drawn] of [
  ['25', '25', ['10', '15']],
  ['30', '30', ['10', '20']],
  ['30.000000001', '30', ['10', '20']],
  ['1000', '30', ['10', '20']],
] as const) {
  test(`of lots of 10 and 20, ${asked} takes ${taken}`, () => {
    const events = story(
      create({}, load('20', { priority: 2 })),
      loadCredits(id, [load('10', { priority: 1 })]),
      partial(asked),
    );
    assert.equal(debits(events), [[asked, taken, drawn]]);
  });
}

test('without the word it is refused whole, as before, and its entry says nothing of it', () => {
  given(wallet, story(create({}, '10')))
    .when(debit('11'))
    .thenProblem('invalid_operation');
  assert.equal(debits(story(create({}, '10'), debit('4'))), [[undefined, '4', ['4']]]);
});

test('where nothing is there it is refused as any other, and orders the top-up', () => {
  const problem = problemOf(() => partial('3')(after(create()), at(9)));
  const details = { reason: 'insufficient_credits', available: '0', requested: '3' };
  assert.equal(problem.details, details);
  assert.is(problem.isRemembered, true);
  const auto_topup = { enabled: true, threshold: '0', amount: '5', invoicing: true };
  const orders = (...steps: readonly (readonly [number, WalletDecision])[]) =>
    history(...steps).flatMap((event) =>
      event.type === 'TopUpRequested'
        ? [[event.data.automatic?.cause, event.data.transaction_id]]
        : [],
    );
  const [[, first] = []] = orders([0, create({ auto_topup })]);
  const ended = {
    transaction_status: 'failed',
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
  } as const;
  const all = orders(
    [0, create({ auto_topup })],
    [1, cancelTopUp(id, `${first}`, ended)],
    [2, partial('3')],
  );
  assert.equal(
    all.map(([cause]) => cause),
    ['settings', 'refused_debit'],
  );
});

test('held credits are not there, and expired ones neither, booked or not', () => {
  const events = history(
    [0, create({}, '10')],
    [1, loadCredits(id, [load('7', { expiresAt: at(5) })])],
    [2, holdCredits(id, holdOf('a', '8'))],
    [6, partial('100')],
  );
  // The hold drew the lot that expires first.
  assert.equal(debits(events), [['100', '9', ['9']]]);
});

test('what is taken is what lots of its instant still have, when it is dated back', () => {
  const events = history(
    [0, create({}, '20')],
    [6, loadCredits(id, [load('10')])],
    [8, debit('5')],
    [20, partial('40', at(4))],
  );
  assert.equal(debits(events).at(-1), ['40', '15', ['15']]);
  const state = events.reduce(wallet.evolve, wallet.initial);
  assert.is(state?.credit_balance, '10');
  const nothing = problemOf(() => partial('1', at(4))(state, at(21)));
  assert.is(nothing.details?.reason, 'insufficient_credits_then');
  const early = problemOf(() => partial('1', '2025-01-01T00:00:00.000Z' as Instant)(state, at(21)));
  assert.is(early.details?.reason, 'before_creation');
});

test('a wallet that may owe pays each debit whole, and refuses the word', () => {
  const state = after(create({ wallet_type: 'POST_PAID' }, '10'));
  for (const asked of ['5', '50']) {
    const problem = problemOf(() => partial(asked)(state, at(9)));
    assert.is(problem.details?.reason, 'never_partial');
    assert.is(problem.isRemembered, false);
  }
});

test('in a bulk each debit takes what those before it left; one that finds nothing fails alone', () => {
  const events = history(
    [0, create({}, '10')],
    [
      1,
      moveInBulk(
        id,
        [
          { type: 'debit', debit: debitOf('7', true) },
          { type: 'debit', debit: debitOf('7', true) },
          { type: 'debit', debit: debitOf('7', true) },
          { type: 'credit', load: load('2') },
          { type: 'debit', debit: debitOf('2', true) },
        ],
        false,
      ),
    ],
  );
  assert.equal(
    debits(events).map(([requested, credits]) => [requested, credits]),
    [
      ['7', '7'],
      ['7', '3'],
      ['2', '2'],
    ],
  );
  const results = bulkResults(events.slice(2), id);
  assert.equal(
    results.map(({ wallet_transaction: row, error }) => row?.credits_missing ?? error?.details),
    ['0', '4', { reason: 'insufficient_credits', available: '0', requested: '7' }, undefined, '0'],
  );
});

test('a reversal gives back what was taken, and not what was asked for', () => {
  const events = history([0, create({}, '10')], [1, partial('25')]);
  const entry = reversibleIn(events, 0);
  assert.ok(entry);
  const reverse = { ...details('CREDIT_ADJUSTMENT'), credits: null, expiresAt: null };
  const state = events.reduce(wallet.evolve, wallet.initial) as Wallet;
  const back = reverseEntry(id, entry, reverse)(state, at(2)).reduce(foldInto, state);
  assert.is(back.credit_balance, '10');
});

const some = fc
  .oneof(
    fc.bigInt({ min: 1n, max: 30n }).map((n) => n * 10n ** 9n),
    fc.bigInt({ min: 1n, max: 10n ** 11n }),
  )
  .map((units) => textOf(decimal(String(units)).div(decimal('1000000000'))));
const seconds = fc.option(fc.integer({ min: 1, max: 30 }), { freq: 2 });
const loads = fc.array(
  fc.record({ credits: some, priority: fc.option(fc.nat(2)), ahead: seconds }),
  {
    maxLength: 5,
  },
);
const asking = fc.record({ credits: some, behind: fc.option(fc.nat(12), { freq: 1 }) });

test('it takes exactly what a plain debit of the smaller of the two takes, and not a bit more can be taken', () => {
  const run = fc.property(
    loads,
    fc.option(some),
    asking,
    (given, held, { credits: asked, behind }) => {
      const start = history(
        [0, create({}, null)],
        ...given.map(
          ({ credits, priority, ahead }, index) =>
            [
              index + 1,
              loadCredits(id, [
                load(credits, { priority, expiresAt: ahead ? at(9 + ahead) : null }),
              ]),
            ] as const,
        ),
        [
          8,
          (state, now) =>
            quietly(held === null ? settleDue(id) : holdCredits(id, holdOf('a', held)), state, now),
        ],
      );
      const state = start.reduce(wallet.evolve, wallet.initial) as Wallet;
      const dated = behind === null ? undefined : at(20 - behind);
      const events = quietly(partial(asked, dated), state, at(20));
      const [taken] = debits(events) as unknown as [string, string, string[]][];
      const more = (credits: string) =>
        quietly(plain(credits, dated), state, at(20)).filter(
          ({ type }) => type === 'CreditsDebited',
        );
      if (!taken) {
        assert.equal(more('0.000000001'), []);
        return;
      }
      const [requested, credits, drawn] = taken;
      assert.is(requested, asked);
      assert.equal(debits(more(credits)), [[undefined, credits, drawn]]);
      const missing = decimal(asked).minus(decimal(credits));
      assert.ok(missing.cmp(decimal('0')) >= 0);
      if (missing.cmp(decimal('0')) > 0) {
        assert.equal(more(textOf(decimal(credits).plus(decimal('0.000000001')))), []);
      }
    },
  );
  fc.assert(run, { numRuns: 300 });
});

const plain = (credits: string, effectiveAt?: Instant): WalletDecision =>
  debitCredits(id, {
    ...debitOf(credits),
    ...(effectiveAt === undefined ? {} : { effectiveAt }),
  });

/** The events of a decision; none when it is refused. */
function quietly(
  decide: WalletDecision,
  state: Parameters<WalletDecision>[0],
  now: Instant,
): readonly WalletEvent[] {
  try {
    return decide(state, now);
  } catch (error) {
    if (error instanceof Problem || error instanceof RefusedWithEvents) return [];
    throw error;
  }
}

test('the answer says what was asked for, taken and missing, and a repetition says the same', async () => {
  const { id: walletId, request, topUp } = await walletWorld();
  const take = (body: object, key?: string) =>
    callRoute(
      walletRoutes['POST /wallets/{id}/debit'],
      request(`POST /wallets/${walletId}/debit`, key),
      { params: { id: walletId }, body: body as never },
    );
  const { wallet: shown, wallet_transaction: row } = await take(
    { credits: '130.5', allow_partial: true },
    'one',
  );
  assert.equal(
    [shown.credit_balance, row.credit_amount, row.credits_requested, row.credits_missing],
    ['0', '100', '130.5', '30.5'],
  );
  await topUp({ credits_to_add: '500', transaction_reason: 'FREE_CREDIT_GRANT' });
  const again = await take({ credits: '130.5', allow_partial: true }, 'one');
  assert.equal(again.wallet_transaction, row);
  const whole = await take({ credits: '1', allow_partial: true });
  assert.is(whole.wallet_transaction.credits_missing, '0');
  assert.not('credits_missing' in (await take({ credits: '1' })).wallet_transaction);
});

test.run();
