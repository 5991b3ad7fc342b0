import { aggregate, Problem, type Stamp } from '@counterfoil/kernel';
import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import type { Cause, CommandOutcome, RawEvent } from './command.ts';
import { requestFingerprint } from './request-fingerprint.ts';
import { createStreams } from './streams.ts';

const test = suite('the same answer, byte for byte');

const texts = z.record(z.string(), z.string());
type Texts = z.output<typeof texts>;

const note = aggregate({
  name: 'note',
  scope: 'environment',
  events: { Noted: z.object({ texts }) },
  initial: {} as Texts,
  evolve: (_state, { data }): Texts => data.texts,
});

const cause: Cause = {
  tenantId: 'tenant_1',
  environmentId: 'env_1',
  actor: { user_id: null, key_id: null } as Stamp['actor'],
  correlationId: 'test',
  causationId: 'test',
};

const fingerprint = requestFingerprint('POST /notes', 'key', {});
const unordered = { zebra: '1', ant: '2', Bee: '3' };

/** Returns what a process answers to the one request that there is. */
const answerOf = async (
  store: MemoryStore,
  decide: () => readonly RawEvent[],
): Promise<CommandOutcome<Texts>> => {
  const streams = createStreams({ store, aggregates: [note] });
  return streams
    .writer<Texts>(note, 'env_1', '1')
    .run({ cause, fingerprint, expectedRevision: null, decide });
};

test('members that callers name stand in the same order at once and after a restart', async () => {
  const store = new MemoryStore();
  const decide = () => [{ type: 'Noted', data: { texts: unordered } }];
  const [first, again] = [await answerOf(store, decide), await answerOf(store, decide)];
  assert.is(again.replayed, true);
  assert.is(JSON.stringify(again.state), JSON.stringify(first.state));
  assert.is(JSON.stringify(again.events), JSON.stringify(first.events));
});

test('so do the details of a refusal that is remembered', async () => {
  const store = new MemoryStore();
  const decide = () => {
    throw new Problem('invalid_operation', 'No.', { isRemembered: true, details: unordered });
  };
  const [first, again] = [await answerOf(store, decide), await answerOf(store, decide)];
  assert.is(again.replayed, true);
  assert.is(JSON.stringify(again.refusal?.details), JSON.stringify(first.refusal?.details));
});

test.run();
