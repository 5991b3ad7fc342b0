import { verifyLedger } from '@counterfoil/cli/verify-ledger';
import {
  eventLeaf,
  grownTree,
  HeadCache,
  inclusionRanges,
  type NewEvent,
  RangeHasher,
  signingKeyFrom,
} from '@counterfoil/engine';
import { canonicalJson } from '@counterfoil/kernel';
import type { Checkpoint } from '@counterfoil/modules';
import { createCheckpointCheck } from '@counterfoil/projector/checkpoints';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { debitCredits, loadCredits } from '../../../modules/src/wallets/decisions.ts';
import {
  creation,
  details,
  type LedgerWorld,
  ledgerWorld,
  load,
  signingKey,
  text,
} from './ledger-world.ts';
import { rechained, withLine } from './tampering.ts';

const test = suite('proofs of an exported ledger');

const id = 'wallet_01';
const key = signingKey.publicKey;
const debit = (credits: string) => debitCredits(id, { ...details(), credits: text(credits) });

/** A wallet among others, with a checkpoint between its entries. The debit makes it what it is. */
async function worldWith(credits: string) {
  const world = ledgerWorld();
  await world.run(id, creation(id));
  await world.run('wallet_02', creation('wallet_02'));
  await world.run(id, loadCredits(id, [load('100')]));
  await world.run(id, debit(credits));
  await world.run('wallet_02', loadCredits('wallet_02', [load('3')]));
  const first = (await world.checkpoint()) as Checkpoint;
  await world.run(id, debit('1'));
  await world.run('wallet_03', creation('wallet_03'));
  const second = (await world.checkpoint()) as Checkpoint;
  await world.run(id, debit('2'));
  return { world, first, second };
}

const held = (checkpoint: Checkpoint): string => JSON.stringify(checkpoint);

async function finding(lines: readonly string[], publicKey?: string, earlier?: string) {
  try {
    return await verifyLedger(lines, publicKey, earlier);
  } catch (error) {
    return (error as Error).message;
  }
}

test('a ledger is proved to be in the last checkpoint, as far as that reaches', async () => {
  const { world, second } = await worldWith('30');
  assert.is(
    await finding(await world.exported(id, { withProofs: true }), key),
    `wallet-env_01.${id}: 5 events, credit balance 67, signed up to revision 3 by ` +
      `${second.id}, wallet 1 of 3`,
  );
});

test('the last checkpoint is proved to extend an earlier one', async () => {
  const { world, first } = await worldWith('30');
  const lines = await world.exported(id, { withProofs: true, since: first.id });
  assert.match(await finding(lines, key, held(first)), new RegExp(`, which extends ${first.id}$`));
});

test('there is no checkpoint over nothing new', async () => {
  const { world } = await worldWith('30');
  assert.ok(await world.checkpoint());
  assert.is(await world.checkpoint(), null);
});

test('every wallet has its proof, however many events the tree has', async () => {
  const world = ledgerWorld();
  let earlier: Checkpoint | null = null;
  for (let count = 1; count <= 12; count += 1) {
    const name = `wallet_${count}`;
    await world.run(name, creation(name));
    await world.run('wallet_1', loadCredits('wallet_1', [load('1')]));
    const checkpoint: Checkpoint | null = await world.checkpoint();
    for (let other = 1; other <= count; other += 1) {
      const options = { withProofs: true, ...(earlier ? { since: earlier.id } : {}) };
      const lines = await world.exported(`wallet_${other}`, options);
      const found = await finding(lines, key, earlier ? held(earlier) : undefined);
      assert.match(found, `by ${checkpoint?.id}`);
    }
    earlier ??= checkpoint;
  }
});

for (const [what, tamper, named] of [
  [
    'an edited signature',
    (lines) =>
      withLine(lines, 7, ({ checkpoint }: Proof) => ({
        checkpoint: {
          ...checkpoint,
          signature: checkpoint.signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
        },
      })),
    /^line 8: the signature of the checkpoint is wrong/,
  ],
  [
    'an edited statement',
    (lines) =>
      withLine(lines, 7, ({ checkpoint }: Proof) => ({
        checkpoint: {
          ...checkpoint,
          statement: checkpoint.statement.replace('"sequence":2', '"sequence":3'),
        },
      })),
    /^line 8: the signature of the checkpoint is wrong/,
  ],
  [
    'an edited path',
    (lines) =>
      withLine(lines, 8, ({ inclusion }: Proof) => ({
        inclusion: { ...inclusion, path: inclusion.path.toReversed() },
      })),
    /^line 9: revision 3 is not what the checkpoint was signed over/,
  ],
  [
    'a path that is cut short',
    (lines) =>
      withLine(lines, 8, ({ inclusion }: Proof) => ({
        inclusion: { ...inclusion, path: [] },
      })),
    /^line 9: the proof is too short/,
  ],
  [
    'another place',
    (lines) =>
      withLine(lines, 8, ({ inclusion }: Proof) => ({
        inclusion: { ...inclusion, index: inclusion.index - 1 },
      })),
    /^line 9: revision 3 is not what/,
  ],
  [
    'no proof',
    (lines) => lines.slice(0, 7),
    /^there is no proof that a signed checkpoint includes/,
  ],
] as readonly (readonly [string, (lines: string[]) => string[], RegExp])[]) {
  test(`${what} is named`, async () => {
    const { world } = await worldWith('30');
    const lines = await world.exported(id, { withProofs: true });
    assert.match(await finding(tamper(lines), key), named);
  });
}

interface Proof {
  readonly checkpoint: { readonly statement: string; readonly signature: string };
  readonly inclusion: { readonly index: number; readonly path: readonly string[] };
}

test('a checkpoint of another key is refused', async () => {
  const { world } = await worldWith('30');
  const other = signingKeyFrom(Buffer.alloc(32, 8));
  const lines = await world.exported(id, { withProofs: true });
  assert.is(
    await finding(lines, other.publicKey),
    `line 8: the signature of the checkpoint is wrong: it names key ${signingKey.keyId}, ` +
      `the key given is ${other.keyId}`,
  );
});

test('a suffix that is chained again adds up by itself, but is not what was signed', async () => {
  const { world } = await worldWith('30');
  const lines = await world.exported(id, { withProofs: true });
  const forged = rechained(lines, 3, (data) => ({ ...data, description: 'never happened' }));
  assert.match(await finding(forged), /credit balance 67, unsigned$/);
  assert.match(await finding(forged, key), /^line 9: revision 3 is not what the checkpoint/);
});

test('an operator who writes history and checkpoints again is found by an earlier checkpoint', async () => {
  const { first: published } = await worldWith('30');
  const { world: rewritten, first } = await worldWith('20');
  const lines = await rewritten.exported(id, { withProofs: true, since: first.id });
  assert.match(await finding(lines, key), /credit balance 77, signed up to revision 3/);
  assert.match(
    await finding(lines, key, held(published)),
    new RegExp(`^line 11: what ${published.id} was signed over is not in the history any more`),
  );
  assert.match(
    await finding(lines.slice(0, 10), key, held(published)),
    /^there is no proof that the earlier checkpoint still holds/,
  );
});

/** The inclusion of an event of the wallet in the tree of all wallet events up to a checkpoint. */
function inclusionOf(world: LedgerWorld, revision: number, { tree_size }: Checkpoint) {
  const events = world.store.log.filter(({ stream }) => stream.startsWith('wallet-'));
  const index = events.findIndex((event) => isOurs(event.stream) && event.revision === revision);
  const hasher = new RangeHasher(inclusionRanges(index, tree_size));
  for (const event of events.slice(0, tree_size)) hasher.add(eventLeaf(event));
  return { inclusion: { index, path: hasher.hashes(), revision } };
}

/** An export as an operator would make it who leaves out everything after a revision. */
async function withoutTail(revision: number, claimed: number) {
  const { world, second } = await worldWith('30');
  const lines = await world.exported(id, { withProofs: true });
  const kept = lines.slice(0, revision + 2);
  const { hash } = JSON.parse(kept.at(-1) ?? '').metadata;
  const { completeness } = JSON.parse(lines.at(-1) ?? '');
  return [
    ...kept,
    canonicalJson({ head: { hash, revision } }),
    lines.find((line) => line.startsWith('{"checkpoint"')) ?? '',
    canonicalJson(inclusionOf(world, revision, second)),
    canonicalJson({ completeness: { ...completeness, revision: claimed } }),
  ];
}

test('an export that leaves out the last events is named, although all that it has was signed', async () => {
  assert.match(await finding(await withoutTail(3, 3), key), /signed up to revision 3 .* 1 of 3$/);
  for (const [claimed, named] of [
    [2, /^line 8: revision 2 is not the last one that was signed/],
    [3, /^line 8: the proof is about another wallet or event/],
  ] as const) {
    assert.match(await finding(await withoutTail(2, claimed), key), named);
  }
  const silent = (await withoutTail(2, 2)).slice(0, -1);
  assert.match(await finding(silent, key), /^there is no proof that no event was left out/);
});

test('every wallet of a checkpoint has a place of its own among all', async () => {
  const { world } = await worldWith('30');
  const places: unknown[] = [];
  for (const wallet of [id, 'wallet_02', 'wallet_03']) {
    const found = await finding(await world.exported(wallet, { withProofs: true }), key);
    places.push(/wallet (\d+ of \d+)$/.exec(found)?.[1]);
  }
  assert.equal(places, ['1 of 3', '2 of 3', '3 of 3']);
});

test('a proof of another wallet does not pass for that of this one', async () => {
  const { world } = await worldWith('30');
  const lines = await world.exported(id, { withProofs: true });
  const other = await world.exported('wallet_03', { withProofs: true });
  const { completeness } = JSON.parse(other.at(-1) ?? '');
  const forged = { completeness: { ...completeness, revision: 3 } };
  const found = await finding([...lines.slice(0, -1), canonicalJson(forged)], key);
  assert.match(found, /^line 10: revision 3 is not the last one that was signed/);
});

test('a tree that grew from what is remembered is the tree that is read again', async () => {
  const world = ledgerWorld();
  const remembered = new HeadCache();
  let before = { size: 0, peaks: [] as readonly string[], position: '0' };
  for (const wallet of [id, 'wallet_02', id]) {
    const decision =
      wallet === id && before.size > 0 ? loadCredits(id, [load('1')]) : creation(wallet);
    await world.run(wallet, decision);
    const grown = await grownTree(world.store, 'wallet-', before, remembered);
    assert.equal(grown, await grownTree(world.store, 'wallet-', before));
    assert.equal(
      grown,
      await grownTree(world.store, 'wallet-', { size: 0, peaks: [], position: '0' }),
    );
    before = grown;
  }
  assert.is(before.size, 3);
});

test('the operator finds a checkpoint that was signed over other last events', async () => {
  const { world, second } = await worldWith('30');
  const event = world.store.log.findLast(({ stream }) => stream.startsWith('ledger_checkpoint-'));
  Object.assign(event?.data ?? {}, { heads_root: 'f'.repeat(64) });
  const check = await createCheckpointCheck(world.store);
  for (const stored of world.store.log) check.take(stored);
  assert.equal(
    check.report().lost.map((lost) => lost.id),
    [second.id],
  );
});

test('no proof is made from a log that is not what was signed', async () => {
  const { world } = await worldWith('30');
  const place = world.store.log.findIndex(({ stream }) => stream.endsWith('wallet_02'));
  const event = world.store.log[place] as NewEvent;
  Object.assign(event.metadata, { hash: '0'.repeat(64) });
  try {
    await world.exported(id, { withProofs: true });
    assert.unreachable();
  } catch (error) {
    assert.match(
      (error as Error).message,
      /There is no proof for checkpoint ckpt_.* not what was signed/,
    );
  }
});

test('the operator finds a suffix that was chained again in the log itself', async () => {
  const { world, first, second } = await worldWith('30');
  const lost = async (): Promise<string[]> => {
    const check = await createCheckpointCheck(world.store);
    for (const event of world.store.log) check.take(event);
    const report = check.report();
    assert.is(report.signed, 2);
    return report.lost.map(({ id }) => id);
  };
  assert.equal(await lost(), []);
  const last = world.store.log.findLast(({ revision, stream }) => revision === 3 && isOurs(stream));
  Object.assign(last?.metadata ?? {}, { hash: '0'.repeat(64) });
  assert.equal(await lost(), [second.id]);
  const dropped = world.store.log.findIndex(({ stream }) => isOurs(stream));
  world.store.log.splice(dropped, 1);
  assert.equal(await lost(), [first.id, second.id]);
});

const isOurs = (stream: string): boolean => stream.endsWith(id);

test.run();
