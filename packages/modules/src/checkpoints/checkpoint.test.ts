import { given, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Checkpoint,
  type CheckpointState,
  createCheckpoint,
  ledgerCheckpoint,
} from './checkpoint.ts';

const test = suite('checkpoint');

const tree = (size: number) => ({
  size,
  peaks: [`peak${size}`],
  root: `root${size}`,
  position: '9',
  heads: { count: 2, root: `heads${size}` },
});
const create = (size: number, basis: CheckpointState) =>
  createCheckpoint({
    tenantId: 'tenant_01',
    environmentId: 'env_01',
    tree: tree(size),
    basis,
    key: { keyId: 'key', sign: (text) => `signature of ${text}` },
  });

const [first] = create(3, null)(null, stampAt(0).occurred_at).map(({ data }) => data) as [
  Checkpoint,
];
const created = [{ type: 'LedgerCheckpointCreated' as const, data: first }];

test('it signs a statement that says everything', () => {
  assert.is(first.signature, `signature of ${first.statement}`);
  assert.equal(JSON.parse(first.statement), {
    format: 'counterfoil-checkpoint',
    version: 1,
    id: first.id,
    tenant_id: 'tenant_01',
    environment_id: 'env_01',
    sequence: 1,
    tree_size: 3,
    root_hash: 'root3',
    position: '9',
    wallets: 2,
    heads_root: 'heads3',
    signed_at: stampAt(0).occurred_at,
    previous: null,
  });
});

test('the next one names the one before it', () => {
  given(ledgerCheckpoint, created)
    .when(create(5, first))
    .thenState((state) => {
      assert.is(state?.sequence, 2);
      const { previous } = JSON.parse(state?.statement ?? '');
      assert.equal(previous, { id: first.id, tree_size: 3, root_hash: 'root3' });
    });
});

test('nothing new is nothing to sign', () => {
  given(ledgerCheckpoint, created).when(create(3, first)).then([]);
});

test('a tree that grew from another checkpoint than the last is not signed', () => {
  given(ledgerCheckpoint, created).when(create(5, null)).then([]);
});

test.run();
