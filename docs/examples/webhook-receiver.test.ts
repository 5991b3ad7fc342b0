import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventTypesOf, modules } from '../../packages/modules/src/index.ts';
import { entryTypes, startReceiver } from './webhook-receiver.ts';

const test = suite('example of a receiver');

const secret = `whsec_${randomBytes(32).toString('base64')}`;

interface Sent {
  readonly id: string;
  readonly type?: string;
  readonly sequence: number;
  readonly at?: Date;
  /** The body that is sent; the one that is signed unless given. */
  readonly body?: string;
}

/** Runs a receiver for as long as `work` posts to it. Returns what it dealt with. */
async function dealtWith(work: (post: (sent: Sent) => Promise<number>) => Promise<void>) {
  const handled: (readonly [id: string, isNewest: boolean])[] = [];
  const receiver = await startReceiver(0, [secret], ({ id }, { isNewest }) =>
    handled.push([id, isNewest]),
  );
  const post = async ({ id, type = 'customer.updated', sequence, at = new Date(), body }: Sent) => {
    // As in events of a ledger, the first record of the body is not the one that the event is about.
    const signed = JSON.stringify({ event_type: type, part: { id }, whole: { id: 'resource_1' } });
    const answer = await fetch(`http://127.0.0.1:${receiver.port}/`, {
      method: 'POST',
      body: body ?? signed,
      headers: {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(secret).sign(id, at, signed),
        'webhook-resource': 'resource_1',
        'webhook-sequence': String(sequence),
      },
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  try {
    await work(post);
  } finally {
    receiver.close();
  }
  return handled;
}

test('it deals with each event once and with genuine ones alone', async () => {
  const handled = await dealtWith(async (post) => {
    assert.is(await post({ id: 'evt_1', sequence: 1 }), 204);
    assert.is(await post({ id: 'evt_1', sequence: 1 }), 204, 'a repetition is taken, and dropped');
    const replayed = { id: 'evt_2', sequence: 2, at: new Date(Date.now() - 600_000) };
    assert.is(await post(replayed), 401, 'a replay is refused');
    assert.is(await post({ id: 'evt_3', sequence: 3, body: '{}' }), 401, 'so is a changed body');
  });
  assert.equal(handled, [['evt_1', true]]);
});

const types = eventTypesOf(modules({ secrets: null }).flatMap(({ publicEvents }) => publicEvents));

for (const [type, { kind = 'state' }] of types) {
  test(`${type} that come out of order: the newest state wins, every entry counts`, async () => {
    const handled = await dealtWith(async (post) => {
      for (const sequence of [1, 3, 2, 3, 2, 4]) {
        assert.is(await post({ id: `evt_${sequence}`, type, sequence }), 204);
      }
    });
    const overtaken = kind === 'entry' ? [['evt_2', false] as const] : [];
    assert.equal(handled, [['evt_1', true], ['evt_3', true], ...overtaken, ['evt_4', true]]);
  });
}

test('it knows every type whose events count one by one', () => {
  const entries = [...types].filter(([, { kind }]) => kind === 'entry').map(([type]) => type);
  assert.equal([...entryTypes].sort(), entries);
});

test.run();
