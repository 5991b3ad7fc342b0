import { randomUUID } from 'node:crypto';
import type {
  BatchAppendReq,
  BatchAppendResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import emptyMessages from 'google-protobuf/google/protobuf/empty_pb.js';
import timestampMessages from 'google-protobuf/google/protobuf/timestamp_pb.js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from './limits.ts';
import { sharedMessages, streamMessages } from './protocol.ts';
import { collect, openRawClient, openTestServer, type TestServer } from './test-server.ts';

const test = suite<{ store: TestServer; batch: Batch }>('batch append');

interface Batch {
  readonly call: ClientDuplexStream<BatchAppendReq, BatchAppendResp>;
  /** The next answer. */
  next(): Promise<BatchAppendResp>;
  /** Answers that came but were not asked for. */
  readonly pending: BatchAppendResp[];
  close(): void;
}

function openBatch(store: TestServer): Batch {
  const client = openRawClient(store.server);
  const call = client.batchAppend();
  const pending: BatchAppendResp[] = [];
  const waiting: ((response: BatchAppendResp) => void)[] = [];
  call.on('data', (response: BatchAppendResp) => {
    const resolve = waiting.shift();
    if (resolve === undefined) pending.push(response);
    else resolve(response);
  });
  call.on('error', () => {});
  return {
    call,
    pending,
    next: () =>
      new Promise((resolve) => {
        const response = pending.shift();
        if (response === undefined) waiting.push(resolve);
        else resolve(response);
      }),
    close: () => {
      call.cancel();
      client.close();
    },
  };
}

test.before(async (context) => {
  context.store = await openTestServer();
});
test.before.each((context) => {
  context.batch = openBatch(context.store);
});
test.after.each(({ batch }) => batch.close());
test.after(({ store }) => store.close());

function uuid(text: string) {
  return new sharedMessages.UUID().setString(text);
}

function optionsFor(stream: string, milliseconds?: number) {
  const identifier = new sharedMessages.StreamIdentifier().setStreamName(Buffer.from(stream));
  const options = new streamMessages.BatchAppendReq.Options()
    .setStreamIdentifier(identifier)
    .setAny(new emptyMessages.Empty());
  if (milliseconds !== undefined) {
    options.setDeadline(timestampMessages.Timestamp.fromDate(new Date(Date.now() + milliseconds)));
  }
  return options;
}

function event(type = 'T', id: string = randomUUID()) {
  const message = new streamMessages.BatchAppendReq.ProposedMessage().setId(uuid(id));
  if (type !== '') message.getMetadataMap().set('type', type);
  message.getMetadataMap().set('content-type', 'application/json');
  return message.setData(Buffer.from('{}'));
}

interface Part {
  readonly id: string;
  readonly options?: BatchAppendReq.Options;
  readonly events?: BatchAppendReq.ProposedMessage[];
  readonly final?: boolean;
}

function part({ id, options, events = [], final = false }: Part): BatchAppendReq {
  const request = new streamMessages.BatchAppendReq().setCorrelationId(uuid(id)).setIsFinal(final);
  if (options !== undefined) request.setOptions(options);
  return request.setProposedMessagesList(events);
}

const idOf = (response: BatchAppendResp) => response.getCorrelationId()?.getString();
const revisionOf = (response: BatchAppendResp) => response.getSuccess()?.getCurrentRevision();
const problemOf = (response: BatchAppendResp) => response.getError()?.getDetails()?.getTypeName();

test('puts interleaved appends together', async ({ store, batch }) => {
  const [left, right] = [randomUUID(), randomUUID()];
  batch.call.write(part({ id: left, options: optionsFor('left-1'), events: [event('L0')] }));
  batch.call.write(part({ id: right, options: optionsFor('right-1'), events: [event('R0')] }));
  batch.call.write(part({ id: left, events: [event('L1'), event('L2')] }));
  batch.call.write(part({ id: right, events: [event('R1')], final: true }));
  const first = await batch.next();
  assert.is(idOf(first), right);
  assert.is(revisionOf(first), '1');
  batch.call.write(part({ id: left, final: true }));
  const second = await batch.next();
  assert.is(idOf(second), left);
  assert.is(revisionOf(second), '2');
  const types = async (stream: string) =>
    (await collect(store.client.readStream(stream))).map((read) => read.event?.type);
  assert.equal(await types('left-1'), ['L0', 'L1', 'L2']);
  assert.equal(await types('right-1'), ['R0', 'R1']);
});

test('takes an empty first message', async ({ batch }) => {
  const id = randomUUID();
  batch.call.write(part({ id, options: optionsFor('late-1') }));
  batch.call.write(part({ id, events: [event()], final: true }));
  assert.is(revisionOf(await batch.next()), '0');
});

test('ignores a second set of options for a known append', async ({ store, batch }) => {
  const id = randomUUID();
  batch.call.write(part({ id, options: optionsFor('twice-1'), events: [event('A')] }));
  batch.call.write(part({ id, options: optionsFor('twice-2'), events: [event('B')], final: true }));
  batch.call.write(part({ id, events: [event('C')], final: true }));
  assert.is(revisionOf(await batch.next()), '1');
  const types = (await collect(store.client.readStream('twice-1'))).map((read) => read.event?.type);
  assert.equal(types, ['A', 'C']);
});

test('answers a time-out when the rest does not come', async ({ batch }) => {
  const id = randomUUID();
  batch.call.write(part({ id, options: optionsFor('slow-1', 60), events: [event()] }));
  const response = await batch.next();
  assert.is(problemOf(response), 'event_store.client.Timeout');
  assert.ok(response.hasStreamIdentifier());
  // A part that comes too late has no options and belongs to nothing.
  batch.call.write(part({ id, events: [event()], final: true }));
  const other = randomUUID();
  batch.call.write(
    part({ id: other, options: optionsFor('slow-1'), events: [event()], final: true }),
  );
  const next = await batch.next();
  assert.is(idOf(next), other);
  assert.is(revisionOf(next), '0');
});

test('refuses an append whose time is over before it begins', async ({ batch }) => {
  const options = optionsFor('over-1', -1);
  batch.call.write(part({ id: randomUUID(), options, events: [event()], final: true }));
  assert.is(problemOf(await batch.next()), 'event_store.client.Timeout');
});

test('answers bad appends once and goes on with the others', async ({ batch }) => {
  const bad = [
    part({ id: randomUUID(), options: optionsFor(''), events: [event()], final: true }),
    part({ id: randomUUID(), options: optionsFor('bad-1'), events: [event('')], final: true }),
    part({
      id: randomUUID(),
      options: optionsFor('bad-1'),
      events: [event('T', 'x')],
      final: true,
    }),
    part({
      id: randomUUID(),
      options: new streamMessages.BatchAppendReq.Options().setStreamIdentifier(
        optionsFor('bad-1').getStreamIdentifier(),
      ),
      events: [event()],
      final: true,
    }),
  ];
  for (const request of bad) {
    batch.call.write(request);
    const response = await batch.next();
    assert.is(idOf(response), request.getCorrelationId()?.getString());
    assert.is(problemOf(response), 'event_store.client.BadRequest');
  }
  const good = part({
    id: randomUUID(),
    options: optionsFor('bad-1'),
    events: [event()],
    final: true,
  });
  batch.call.write(good);
  assert.is(revisionOf(await batch.next()), '0');
  assert.is(batch.pending.length, 0);
});

test('refuses an append as soon as it is too large', async ({ batch }) => {
  const id = randomUUID();
  const big = event().setData(Buffer.alloc(0.7 * limits.appendBytes));
  batch.call.write(part({ id, options: optionsFor('big-1'), events: [big] }));
  batch.call.write(part({ id, events: [big] }));
  assert.is(problemOf(await batch.next()), 'event_store.client.MaximumAppendSizeExceeded');
});

test('accepts ids in both wire forms', async ({ store, batch }) => {
  const structured = new sharedMessages.UUID.Structured()
    .setMostSignificantBits('-1')
    .setLeastSignificantBits('258');
  const proposed = event().setId(new sharedMessages.UUID().setStructured(structured));
  const id = randomUUID();
  batch.call.write(part({ id, options: optionsFor('forms-1'), events: [proposed], final: true }));
  assert.is(revisionOf(await batch.next()), '0');
  const [read] = await collect(store.client.readStream('forms-1'));
  assert.is(read?.event?.id, 'ffffffff-ffff-ffff-0000-000000000102');
});

test('finishes what was sent when the client half-closes', async ({ batch }) => {
  const id = randomUUID();
  const ended = new Promise<void>((resolve) => batch.call.once('end', () => resolve()));
  batch.call.write(part({ id, options: optionsFor('half-1'), events: [event()], final: true }));
  batch.call.end();
  assert.is(revisionOf(await batch.next()), '0');
  await ended;
});

test('ends the call when a message has no correlation id', async ({ batch }) => {
  const failed = new Promise<{ code?: number }>((resolve) => batch.call.once('error', resolve));
  batch.call.write(new streamMessages.BatchAppendReq());
  assert.is((await failed).code, 3);
});

test.run();
