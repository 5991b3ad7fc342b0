import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertProven, readAll } from './audit.ts';
import { type Command, type CreateBody, wired } from './commands.ts';
import { effectOf, entryNumbers } from './effects.ts';
import type { Exchange } from './exchange.ts';
import { faultyStore, type Mishap, mishaps } from './faulty-store.ts';
import type { History } from './history.ts';
import { memoryClient, memoryPrincipal } from './memory-client.ts';

const test = suite('every point at which the write path can be cut');

/**
 * The steps of a run, whatever goes wrong: a wallet with everything on it, and then one command.
 */
interface Case {
  readonly name: string;
  /** Given the hold that is open. */
  readonly command: (hold: string) => Command;
  readonly before?: Command;
  /** Milliseconds that go by before the command. */
  readonly wait?: number;
}

const later = '2026-01-01T00:00:10.000Z';
const debit = (credits: string): Command => ({ kind: 'debit', body: { credits } });
const thresholds = {
  alert_enabled: true,
  critical: { threshold: '95', condition: 'below' as const },
};

const cases: readonly Case[] = [
  { name: 'top-up', command: () => ({ kind: 'top-up', body: topUp }) },
  { name: 'debit', command: () => debit('7') },
  { name: 'refused debit', command: () => debit('1000') },
  { name: 'debit after an expiry', command: () => debit('7'), wait: 20_000 },
  { name: 'hold', command: () => ({ kind: 'hold', body: { credits: '3' } }) },
  { name: 'capture', command: (hold) => ({ kind: 'capture', hold, body: { credits: '2' } }) },
  { name: 'void', command: (hold) => ({ kind: 'void', hold }) },
  { name: 'freeze', command: () => ({ kind: 'freeze' }) },
  { name: 'unfreeze', command: () => ({ kind: 'unfreeze' }), before: { kind: 'freeze' } },
  { name: 'settings', command: () => ({ kind: 'settings', body: { name: 'Other' } }) },
  {
    name: 'bulk',
    command: () => ({
      kind: 'bulk',
      body: {
        atomic: false,
        entries: [
          { type: 'credit', credits: '4' },
          { type: 'debit', credits: '1000' },
          { type: 'debit', credits: '2' },
        ],
      },
    }),
  },
  { name: 'refused terminate', command: () => ({ kind: 'terminate' }) },
];
const topUp = {
  transaction_reason: 'PURCHASED_CREDIT_DIRECT',
  credits_to_add: '5',
  bonus_credits_to_add: '1',
};

/** The point at which a call goes wrong, and whether the process dies by it. */
interface Cut {
  readonly call: number;
  readonly mishap: Mishap;
  readonly isCrash: boolean;
}

/** The kind of client: without a key, a client has to live with the one answer that it gets. */
type Client = 'repeats' | 'asks once';

interface Run {
  readonly history: History;
  /** Calls of the store that the command made while things could go wrong. */
  readonly calls: number;
  /** True when the mishap came to pass. */
  readonly isCut: boolean;
  /** True when the command got a final answer. */
  readonly isAnswered: boolean;
}

const attemptsMaximum = 3;

/** Plays a case, with one call going wrong, and repeats the request until there is an answer. */
async function run(
  { command, before, wait = 0 }: Case | CreateCase,
  cut: Cut | null,
  last: Client = 'repeats',
): Promise<Run> {
  const state = { isWatched: false, calls: 0, isCut: false };
  const client = memoryClient({
    wrap: (store) =>
      faultyStore(store, () => {
        if (!state.isWatched) return null;
        state.calls += 1;
        if (!cut || state.calls < cut.call) return null;
        if (state.calls > cut.call) return cut.isCrash ? 'lost' : null;
        state.isCut = true;
        return cut.mishap;
      }),
  });
  const exchanges: Exchange[] = [];
  let walletId = '';
  const send = async (given: Command, name: string, attempt: number) => {
    const requestId = `${name}-${attempt}`;
    const isKeyed = given.kind !== 'settings' && (last === 'repeats' || name !== 'command');
    const key = isKeyed ? name : null;
    const wire = { ...wired(given, walletId), requestId, key };
    const [sent, sentAt] = [exchanges.length * 2, client.now()];
    const answer = await client.send(wire);
    exchanges.push({
      requestId,
      command: given,
      key,
      sent,
      sentAt,
      answered: sent + 1,
      answeredAt: client.now(),
      answer,
    });
    return answer;
  };
  const insist = async (given: Command, key: string) => {
    for (let attempt = 1; attempt <= attemptsMaximum; attempt += 1) {
      const answer = await send(given, key, attempt);
      if (answer.status < 500) return answer;
      // What went wrong once does not go wrong again; after a crash another process takes over.
      state.isWatched = false;
      if (cut?.isCrash) client.restart();
    }
    throw new Error(`${given.kind} was never answered`);
  };
  const { body: customer } = await client.send({
    route: 'POST /customers',
    path: '/customers',
    params: {},
    body: { external_id: 'cut', name: 'Cut' },
    requestId: 'customer',
    key: null,
  });
  const creation: Command = { kind: 'create', body: { ...wallet, customer_id: customer.id } };
  if (command === null) {
    state.isWatched = true;
    walletId = (await insist(creation, 'create')).body.id;
  } else {
    walletId = (await insist(creation, 'create')).body.id;
    await insist({ kind: 'top-up', body: { ...topUp, expiry_date_utc: later } }, 'load');
    const hold = await insist({ kind: 'hold', body: { credits: '5' } }, 'hold');
    if (before) await insist(before, 'before');
    await client.pass(wait);
    state.isWatched = true;
    const given = command(hold.body.id);
    if (last === 'repeats') await insist(given, 'command');
    else await send(given, 'command', 1);
  }
  state.isWatched = false;
  client.restart();
  const all = await readAll(client, walletId);
  const { tenantId, environmentId } = memoryPrincipal;
  await assertProven({ ...all, exchanges, tenantId, environmentId, strangers: [] });
  const isAnswered = (exchanges.at(-1)?.answer?.status ?? 500) < 500;
  return { history: all.history, calls: state.calls, isCut: state.isCut, isAnswered };
}

interface CreateCase extends Omit<Case, 'command'> {
  readonly command: null;
}

const wallet: Omit<CreateBody, 'customer_id'> = {
  currency: 'usd',
  initial_credits_to_load: '100',
  alert_settings: thresholds,
};

/** Changes nothing: the thresholds are what they were. */
const nothing = (): Command => ({ kind: 'settings', body: { alert_settings: thresholds } });

/**
 * Returns what the events of a ledger say, in the order of the log. Without a key, ids of holds are
 * random.
 */
const told = (history: History) => {
  const numbers = entryNumbers(history);
  return history.map((event) => {
    if (event.type === 'RequestRefused') return event.data.details;
    const { id: _id, ...effect } = effectOf(event, numbers);
    return effect;
  });
};

for (const one of [...cases, { name: 'create', command: null } satisfies CreateCase]) {
  test(`${one.name}: whatever fails, it has happened once, and the answer says so`, async () => {
    const clean = await run(one, null);
    const right = told(clean.history);
    assert.ok(clean.calls > 0, 'the command does not use the store');
    let cuts = 0;
    for (const isCrash of [false, true]) {
      for (const mishap of mishaps) {
        for (let call = 1; ; call += 1) {
          const { history, isCut } = await run(one, { call, mishap, isCrash });
          if (!isCut) break;
          cuts += 1;
          const place = `${mishap} at call ${call}${isCrash ? ', and a crash' : ''}`;
          assert.equal(told(history), right, place);
        }
      }
    }
    assert.ok(cuts >= mishaps.length * 2, `${cuts} cuts`);
  });
}

for (const one of cases) {
  test(`${one.name} without a key: whatever fails, it has not happened twice`, async () => {
    const right = told((await run(one, null, 'asks once')).history);
    const none = told((await run({ ...one, command: nothing }, null, 'asks once')).history);
    for (const mishap of mishaps) {
      for (let call = 1; ; call += 1) {
        const cut = { call, mishap, isCrash: false };
        const { history, isCut, isAnswered } = await run(one, cut, 'asks once');
        if (!isCut) break;
        const seen = told(history);
        // Nobody who is told that the outcome is unknown can expect more than that it is one of two.
        const wasLost = !isAnswered && seen.length === none.length;
        assert.equal(seen, wasLost ? none : right, `${mishap} at call ${call}`);
      }
    }
  });
}

test.run();
