import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertCustomerProven, readTogether } from './audit.ts';
import { type CreateBody, type CustomerDebitBody, wired } from './commands.ts';
import { effectOf, entryNumbers } from './effects.ts';
import type { AnyExchange, CustomerExchange, Exchange } from './exchange.ts';
import { faultyStore, type Mishap, mishaps } from './faulty-store.ts';
import type { History } from './history.ts';
import { memoryClient, memoryPrincipal } from './memory-client.ts';

const test = suite('every point at which a debit over several wallets can be cut');

/** Three wallets: the first and the second have alerts, the third tops itself up. */
const alert_settings = { alert_enabled: true, critical: { threshold: '5' } };
const auto_topup = { enabled: true, threshold: '0', amount: '50' };
const wallets: readonly Partial<CreateBody>[] = [
  { initial_credits_to_load: '10', alert_settings },
  { initial_credits_to_load: '20', conversion_rate: '3', alert_settings },
  { initial_credits_to_load: '30', auto_topup },
];

/** They are worth 100. */
const cases: Readonly<Record<string, Omit<CustomerDebitBody, 'currency'>>> = {
  'paid by one': { amount: '10' },
  'paid by all': { amount: '95.5' },
  refused: { amount: '101' },
  'taken in part': { amount: '101', allow_partial: true },
};

/** The call that goes wrong, and whether the process dies by it. */
interface Cut {
  readonly call: number;
  readonly mishap: Mishap;
  readonly isCrash: boolean;
}

const attemptsMaximum = 4;

/** Asks for a debit, with one call going wrong, and repeats the request until there is an answer. */
async function run(asked: Omit<CustomerDebitBody, 'currency'>, cut: Cut | null) {
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
  let sent = 0;
  const send = async <Asked extends AnyExchange['command']>(
    command: Asked,
    recordId: string,
    key: string | null,
    exchanges: Exchange<Asked>[],
  ) => {
    sent += 2;
    const requestId = `request-${sent}`;
    const [sentAt, answeredAt] = [client.now(), client.now()];
    const answer = await client.send({ ...wired(command, recordId), requestId, key });
    const answered = sent + 1;
    exchanges.push({ requestId, command, key, sent, sentAt, answered, answeredAt, answer });
    return answer;
  };
  const { body: customer } = await client.send({
    route: 'POST /customers',
    path: '/customers',
    params: {},
    body: { external_id: 'cut', name: 'Cut' },
    requestId: 'customer',
    key: null,
  });
  const made: { walletId: string; exchanges: Exchange[] }[] = [];
  for (const [priority, terms] of wallets.entries()) {
    const shared = { customer_id: customer.id, currency: 'usd', allow_multiple: true, priority };
    const exchanges: Exchange[] = [];
    const create = { kind: 'create', body: { ...shared, ...terms } } as const;
    const answer = await send(create, '', null, exchanges);
    made.push({ walletId: answer.body.id, exchanges });
  }
  const debits: CustomerExchange[] = [];
  const body = { currency: 'usd', ...asked };
  const command = { kind: 'debit-customer', customer: customer.id, body } as const;
  state.isWatched = true;
  for (let attempt = 1; attempt <= attemptsMaximum; attempt += 1) {
    const { status } = await send(command, customer.id, 'debit', debits);
    if (status < 500) break;
    assert.ok(attempt < attemptsMaximum, 'the debit was never answered');
    // What went wrong once does not go wrong again; after a crash another process takes over.
    state.isWatched = false;
    if (cut?.isCrash) client.restart();
  }
  state.isWatched = false;
  client.restart();
  const { tenantId, environmentId } = memoryPrincipal;
  const result = { customerId: customer.id, wallets: made, debits };
  const owner = { tenantId, environmentId, strangers: [] };
  const evidence = await readTogether(client, result, owner);
  await assertCustomerProven(evidence);
  return { evidence, calls: state.calls, isCut: state.isCut };
}

/** The events of a wallet in words, without ids: that of a hold follows from that of the debit, which is random. */
const told = (history: History) => {
  const numbers = entryNumbers(history);
  return history.map((event) => {
    if (event.type.startsWith('Request')) return event.type;
    const { id: _id, by: _by, automatic: _automatic, ...effect } = effectOf(event, numbers);
    return effect;
  });
};

for (const [name, body] of Object.entries(cases)) {
  test(`${name}: whatever fails, it has happened once and whole, and the answer says so`, async () => {
    const clean = await run(body, null);
    const right = clean.evidence.wallets.map(({ history }) => told(history));
    let cuts = 0;
    for (const isCrash of [false, true]) {
      for (const mishap of mishaps) {
        for (let call = 1; ; call += 1) {
          const { evidence, isCut } = await run(body, { call, mishap, isCrash });
          if (!isCut) break;
          cuts += 1;
          const place = `${mishap} at call ${call}${isCrash ? ', and a crash' : ''}`;
          const seen = evidence.wallets.map(({ history }) => told(history));
          assert.equal(seen, right, place);
          const ends = evidence.debits.history.map(({ type }) => type);
          assert.is(ends.length, 2, `${ends} after ${place}`);
        }
      }
    }
    assert.ok(cuts >= mishaps.length * 2 * 3, `${cuts} cuts`);
  });
}

test.run();
