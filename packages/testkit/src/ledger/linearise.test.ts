import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Command, wired } from './commands.ts';
import type { Exchange } from './exchange.ts';
import { linearise } from './linearise.ts';
import { memoryClient } from './memory-client.ts';

const test = suite('explanations of a ledger');

test('what an instant in a request rules out, a request decided right after it may still get', async () => {
  const client = memoryClient();
  const exchanges: Exchange[] = [];
  let walletId = '';
  const send = async (command: Command, sentAt: number): Promise<Exchange> => {
    const place = exchanges.length * 2;
    const requestId = `request-${place}`;
    const answer = await client.send({ ...wired(command, walletId), requestId, key: null });
    walletId ||= answer.body.id;
    const [sent, answered, answeredAt] = [place, place + 1, client.now()];
    const exchange = { requestId, command, key: null, sent, answered, sentAt, answeredAt, answer };
    exchanges.push(exchange);
    return exchange;
  };
  const customer = await client.send({
    ...{ route: 'POST /customers', path: '/customers', params: {} },
    ...{ body: { external_id: 'acme', name: 'Acme' }, requestId: 'customer', key: null },
  });
  const body = { customer_id: customer.body.id, currency: 'usd', initial_credits_to_load: '100' };
  await send({ kind: 'create', body }, client.now());
  await client.pass(10);
  const sentAt = client.now();
  // At the instant of sending the credits of the first entry are there; a millisecond later they came too late.
  const entries = [
    { type: 'credit', credits: '48' },
    { type: 'debit', credits: '500', effective_at: new Date(sentAt).toISOString() },
  ] as const;
  await client.pass(1);
  const { answer } = await send({ kind: 'bulk', body: { atomic: true, entries } }, sentAt);
  assert.is(answer?.body.details?.available, '100');
  linearise(await client.history(walletId), exchanges);
});

test.run();
