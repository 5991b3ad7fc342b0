import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ListenOptions, listenForWebhooks } from './listen.ts';

const test = suite('webhooks listen');

const secret = `whsec_${randomBytes(32).toString('base64')}`;

/** Runs a listener for as long as `work` takes. Returns the lines that it printed, parsed. */
async function listening(
  options: Partial<ListenOptions>,
  work: (url: string) => Promise<void>,
): Promise<readonly Record<string, unknown>[]> {
  const lines: string[] = [];
  const listener = await listenForWebhooks(
    { port: 0, host: '127.0.0.1', keys: [secret], status: 204, ...options },
    (line) => lines.push(line),
  );
  try {
    await work(`http://127.0.0.1:${listener.port}/`);
  } finally {
    await listener.close();
  }
  return lines.map((line) => JSON.parse(line));
}

async function post(url: string, id: string, event: Event, at = new Date()): Promise<number> {
  const body = JSON.stringify(event);
  const answer = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
      'webhook-attempt': '2',
      'webhook-resource': event.resource,
      'webhook-sequence': id.replace('evt_', ''),
    },
  });
  await answer.arrayBuffer();
  return answer.status;
}

interface Event {
  readonly event_type: string;
  readonly resource: string;
}

/** An event whose first record is not the one that it is about. */
const event = (resource: string, event_type = 'customer.updated'): Event => ({
  event_type,
  resource,
  ...{ transaction: { id: `wtxn_${Math.random()}` }, wallet: { id: resource } },
});

test('it prints what arrives, and tells repetitions and overtaken events', async () => {
  for (const type of ['customer.updated', 'wallet.updated', 'wallet.transaction.created']) {
    const first = event('resource_1', type);
    const lines = await listening({}, async (url) => {
      assert.is(await post(url, 'evt_2', first), 204);
      assert.is(await post(url, 'evt_2', event('resource_1', type)), 204);
      assert.is(await post(url, 'evt_1', event('resource_1', type)), 204);
      assert.is(await post(url, 'evt_0', event('resource_2', type)), 204);
    });
    assert.equal(lines[0], {
      id: 'evt_2',
      resource: 'resource_1',
      sequence: 2,
      attempt: 2,
      genuine: true,
      repeated: false,
      overtaken: false,
      event: first,
    });
    const seen = lines.map(({ repeated, overtaken }) => [repeated, overtaken]);
    assert.equal(seen, [
      [false, false],
      [true, false],
      [false, true],
      [false, false],
    ]);
  }
});

test('what is not genuine is answered 401 and said so, a replay too', async () => {
  const lines = await listening({}, async (url) => {
    const forged = await fetch(url, { method: 'POST', body: '{}' });
    assert.is(forged.status, 401);
    const longAgo = new Date(Date.now() - 3_600_000);
    assert.is(await post(url, 'evt_1', event('cust_1'), longAgo), 401);
  });
  assert.equal(
    lines.map(({ genuine }) => genuine),
    [false, false],
  );
  assert.match(String(lines[1]?.refused), /too old/);
});

test('without a key nothing is verified, and the status can be chosen', async () => {
  const lines = await listening({ keys: [], status: 503 }, async (url) => {
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(event('cust_1')) });
    assert.is(answer.status, 503);
  });
  assert.is(lines[0]?.genuine, null);
});

test('a body without an end is not read to its end', async () => {
  const lines = await listening({}, async (url) => {
    const body = 'x'.repeat(600 * 1024);
    const status = await fetch(url, { method: 'POST', body }).then(
      (answer) => answer.status,
      () => 413,
    );
    assert.is(status, 413);
  });
  assert.equal(lines, []);
});

test.run();
