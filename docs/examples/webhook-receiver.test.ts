import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startReceiver } from './webhook-receiver.ts';

const test = suite('example of a receiver');

const secret = `whsec_${randomBytes(32).toString('base64')}`;

test('it deals with each event once, in order, and with genuine ones alone', async () => {
  const handled: string[] = [];
  const receiver = await startReceiver(0, [secret], (id) => handled.push(id));
  const post = async (id: string, at = new Date(), body = event(id)): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${receiver.port}/`, {
      method: 'POST',
      body,
      headers: {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(secret).sign(id, at, event(id)),
      },
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const event = (id: string): string =>
    JSON.stringify({ event_type: 'customer.updated', customer: { id: 'cust_1', last: id } });
  try {
    assert.is(await post('evt_1'), 204);
    assert.is(await post('evt_3'), 204);
    assert.is(await post('evt_3'), 204, 'a repetition is taken, and nothing is done');
    assert.is(await post('evt_2'), 204, 'so is what was overtaken');
    assert.is(await post('evt_4', new Date(Date.now() - 600_000)), 401, 'a replay is refused');
    assert.is(await post('evt_5', new Date(), event('evt_6')), 401, 'so is a changed body');
  } finally {
    receiver.close();
  }
  assert.equal(handled, ['evt_1', 'evt_3']);
});

test.run();
