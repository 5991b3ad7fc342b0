import { setImmediate as nextTurn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createAppendGate } from './append-gate.ts';
import { type AppendClient, createAppender } from './appender.ts';
import { outgoingAppend } from './outgoing-append.ts';
import { errorOf, freshStream, sampleEvent } from './sample-events.ts';
import type { AppendError, Appended, AppendFailure } from './types.ts';

const test = suite('appender');
const soon = 20;
const late = 60_000;

interface SentAppend {
  readonly milliseconds: number;
  readonly succeed: (revision: number) => void;
  readonly fail: (error: unknown) => void;
}

const readyAtOnce = Promise.resolve();

/** A client that does nothing by itself. */
function fakeClient(ready: () => Promise<unknown> = () => readyAtOnce) {
  const sent: SentAppend[] = [];
  const log: string[] = [];
  const cutAll = async (word: string): Promise<void> => {
    log.push(word);
    for (const { fail } of sent)
      fail(Object.assign(new Error('cut'), { type: 'unknown', code: 1 }));
  };
  const client: AppendClient = {
    ready,
    append: (_append, milliseconds) =>
      new Promise<Appended>((resolve, reject) => {
        const succeed = (revision: number) => resolve({ revision, position: 1n });
        sent.push({ milliseconds, succeed, fail: reject });
      }),
    cut: () => cutAll('cut'),
    close: () => cutAll('close'),
  };
  return { client, sent, log };
}

type FakeClient = ReturnType<typeof fakeClient>;

function appenderOf(clients: readonly FakeClient[], appends = 15) {
  let connected = 0;
  const appender = createAppender({
    connect: () => {
      const next = clients[connected];
      if (!next) throw new Error('no further client');
      connected += 1;
      return next.client;
    },
    gate: createAppendGate({ appends, bytes: 1 }),
  });
  return { appender, connections: () => connected };
}

const outgoing = () => outgoingAppend(freshStream(), [sampleEvent()], -1);
const failureOf = async (promise: Promise<unknown>): Promise<AppendFailure> =>
  ((await errorOf(promise)) as AppendError).failure;

test('sends an append and gives its answer', async () => {
  const fake = fakeClient();
  const { appender } = appenderOf([fake]);
  const outcome = appender.append(outgoing(), late);
  await nextTurn();
  fake.sent[0]?.succeed(3);
  assert.equal(await outcome, { revision: 3, position: 1n });
});

test('lets the server give up before it gives up itself', async () => {
  const fake = fakeClient();
  const { appender } = appenderOf([fake]);
  const outcome = appender.append(outgoing(), 10_000);
  await nextTurn();
  assert.ok((fake.sent[0]?.milliseconds ?? 0) > 0);
  assert.ok((fake.sent[0]?.milliseconds ?? 0) <= 8_000);
  fake.sent[0]?.succeed(0);
  await outcome;
});

test('does not know the outcome of what was sent and never answered, and cuts the stream', async () => {
  const fake = fakeClient();
  const { appender } = appenderOf([fake]);
  assert.is(await failureOf(appender.append(outgoing(), soon)), 'unknown_outcome');
  assert.equal(fake.log, ['cut']);
});

test('gives the place of what the cut ended to the next append', async () => {
  const fake = fakeClient();
  const { appender } = appenderOf([fake], 1);
  const lost = appender.append(outgoing(), soon);
  const waiting = appender.append(outgoing(), late);
  await nextTurn();
  assert.is(fake.sent.length, 1);
  assert.is(await failureOf(lost), 'unknown_outcome');
  assert.equal(fake.log, ['cut']);
  while (fake.sent.length < 2) await nextTurn();
  fake.sent[1]?.succeed(0);
  await waiting;
});

test('frees the place of an append that was lost among answered ones', async () => {
  const fake = fakeClient();
  const { appender } = appenderOf([fake], 2);
  const lost = appender.append(outgoing(), soon);
  const answered = appender.append(outgoing(), late);
  await nextTurn();
  fake.sent[1]?.succeed(0);
  await answered;
  assert.is(await failureOf(lost), 'unknown_outcome');
  assert.equal(fake.log, []);
  const more = [appender.append(outgoing(), late), appender.append(outgoing(), late)];
  while (fake.sent.length < 4) await nextTurn();
  fake.sent[2]?.succeed(0);
  fake.sent[3]?.succeed(0);
  await Promise.all(more);
});

test('was surely not sent when its turn did not come in time', async () => {
  const fake = fakeClient();
  const { appender } = appenderOf([fake], 1);
  const first = appender.append(outgoing(), late);
  assert.is(await failureOf(appender.append(outgoing(), soon)), 'unavailable');
  assert.is(fake.sent.length, 1);
  fake.sent[0]?.succeed(0);
  await first;
});

test('was surely not sent when the server cannot be asked what it can do', async () => {
  const refused = Object.assign(new Error('ECONNREFUSED'), { code: 14 });
  const fake = fakeClient(() => Promise.reject(refused));
  const { appender, connections } = appenderOf([fake]);
  assert.is(await failureOf(appender.append(outgoing(), late)), 'unavailable');
  assert.is(fake.sent.length, 0);
  assert.is(connections(), 1);
});

test('replaces a client that would keep an error for ever', async () => {
  const broken = fakeClient(() => Promise.reject(Object.assign(new Error('x'), { code: 13 })));
  const sound = fakeClient();
  const { appender } = appenderOf([broken, sound]);
  assert.is(await failureOf(appender.append(outgoing(), late)), 'unavailable');
  const outcome = appender.append(outgoing(), late);
  while (sound.sent.length < 1) await nextTurn();
  sound.sent[0]?.succeed(0);
  await outcome;
  assert.equal(broken.log, ['close']);
});

test('replaces a client that waits for a lost answer', async () => {
  const broken = fakeClient(() => new Promise(() => {}));
  const sound = fakeClient();
  const { appender } = appenderOf([broken, sound]);
  assert.is(await failureOf(appender.append(outgoing(), soon)), 'unavailable');
  const outcome = appender.append(outgoing(), late);
  while (sound.sent.length < 1) await nextTurn();
  sound.sent[0]?.succeed(0);
  await outcome;
});

test('was surely not sent when the connection is lost while it waits for its turn', async () => {
  let ready: Promise<unknown> = Promise.resolve();
  const fake = fakeClient(() => ready);
  const { appender } = appenderOf([fake], 1);
  const first = appender.append(outgoing(), late);
  const second = appender.append(outgoing(), late);
  await nextTurn();
  ready = Promise.reject(Object.assign(new Error('ECONNREFUSED'), { code: 14 }));
  ready.catch(() => {});
  fake.sent[0]?.fail({ type: 'unavailable', code: 14 });
  assert.is(await failureOf(first), 'unknown_outcome');
  assert.is(await failureOf(second), 'unavailable');
  assert.is(fake.sent.length, 1);
});

test('passes the refusals of the server on', async () => {
  const fake = fakeClient();
  const { appender } = appenderOf([fake]);
  const outcome = appender.append(outgoing(), late);
  await nextTurn();
  fake.sent[0]?.fail({ type: 'wrong-expected-version' });
  assert.is(await failureOf(outcome), 'conflict');
});

test('closes after what is under way and refuses what comes later', async () => {
  const fake = fakeClient();
  const { appender } = appenderOf([fake]);
  const outcome = appender.append(outgoing(), late);
  await nextTurn();
  const closing = appender.close();
  assert.is(await failureOf(appender.append(outgoing(), late)), 'unavailable');
  assert.equal(fake.log, []);
  fake.sent[0]?.succeed(0);
  await Promise.all([outcome, closing]);
  assert.equal(fake.log, ['close']);
});

test.run();
