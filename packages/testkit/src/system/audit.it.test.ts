import { execFile } from 'node:child_process';
import {
  cpSync,
  createWriteStream,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publicKeyOf, takeCheckpoints } from '@counterfoil/cli/checkpoint';
import { exportLedger } from '@counterfoil/cli/export';
import type { WalletId } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, startStack, type TestTenant } from '../stack.ts';
import { readPublicStream } from './public-stream.ts';

const test = suite('audit');

/** An empty folder with the files of the verifier, the key and what the service handed out: an auditor's machine. */
let folder: string;
let stack: SharedStack;
let tenant: TestTenant;
let walletId: WalletId;

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-auditor-'));
  const verifier = dirname(fileURLToPath(import.meta.resolve('@counterfoil/cli/verify-ledger')));
  cpSync(verifier, folder, { recursive: true });
  stack = await sharedStack();
  writeFileSync(join(folder, 'pub.pem'), publicKeyOf(stack.secretKey));
  tenant = await stack.tenant('audit');
  const customer = await tenant.ok('POST', '/customers', { external_id: 'a', name: 'A' });
  const wallet = await tenant.ok('POST', '/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    conversion_rate: '0.5',
    initial_credits_to_load: '100',
  });
  walletId = wallet.id;
  await tenant.ok('POST', `/wallets/${walletId}/debit`, { credits: '30', description: '✓ é' });
});
test.after(async () => {
  rmSync(folder, { recursive: true, force: true });
});

/** Signs what is new in every environment; gives what was signed in that of the test. */
const checkpoint = async () => {
  const lines: string[] = [];
  await takeCheckpoints(stack.eventStoreUrl, stack.secretKey, (line) => lines.push(line));
  return lines
    .map((line) => JSON.parse(line))
    .filter(({ environment_id }) => environment_id === tenant.environmentId);
};

async function exported(name: string, since?: string): Promise<void> {
  const output = createWriteStream(join(folder, name));
  const { environmentId } = tenant;
  const options = { walletId, environmentId, withProofs: true, since };
  await exportLedger(stack.eventStoreUrl, output, options);
  output.end();
  await finished(output);
}

/** The verifier in a process of its own, which has nothing but the folder. */
async function verified(...args: string[]): Promise<{ code: number; line: string }> {
  const options = { cwd: folder, env: {}, timeout: 60_000 };
  const run = promisify(execFile)(process.execPath, ['verify-ledger.ts', ...args], options);
  const { code = 0, stdout } = await run.then(
    (output) => ({ ...output, code: 0 }),
    (error: { code: number; stdout: string }) => error,
  );
  return { code, line: stdout.trim() };
}

test('an export is proved on an empty machine, from one checkpoint to the next', async () => {
  const [first] = await checkpoint();
  assert.equal(await checkpoint(), [], 'nothing new is nothing to sign');
  writeFileSync(join(folder, 'earlier.json'), JSON.stringify(first));
  await tenant.ok('POST', `/wallets/${walletId}/debit`, { credits: '5' });
  const [second] = await checkpoint();
  await exported('ledger.jsonl', first.id);

  const args = ['ledger.jsonl', '--key', 'pub.pem', '--checkpoint', 'earlier.json'];
  const { code, line } = await verified(...args);
  assert.is(code, 0, line);
  assert.is(
    line,
    `OK wallet-${tenant.environmentId}.${walletId}: 4 events, credit balance 65, ` +
      `signed up to revision 3 by ${second.id}, wallet 1 of 1, which extends ${first.id}`,
  );
  const balance = (await tenant.ok('GET', `/wallets/${walletId}`)).credit_balance;
  assert.is(balance, '65');
});

test('a changed export is refused by name', async () => {
  await exported('ledger.jsonl');
  const text = readFileSync(join(folder, 'ledger.jsonl'), 'utf8');
  writeFileSync(join(folder, 'changed.jsonl'), text.replace('"credits":"30"', '"credits":"31"'));
  const { code, line } = await verified('changed.jsonl', '--key', 'pub.pem');
  assert.is(code, 1);
  assert.match(line, /^FAULT line 4: revision 2: its content does not match its hash/);
});

test('checkpoints are read by the API, only in their environment, and published', async () => {
  const { items, pagination } = await tenant.ok('GET', '/ledger/checkpoints?order=asc');
  assert.is(pagination.total, 2);
  const [first] = items;
  assert.equal(await tenant.ok('GET', `/ledger/checkpoints/${first.id}`), first);
  assert.is(JSON.parse(first.statement).root_hash, first.root_hash);
  const other = await stack.tenant('audit of another');
  assert.is((await other.call('GET', `/ledger/checkpoints/${first.id}`)).status, 404);
  const published = await eventually(async () => {
    const messages = await readPublicStream(stack.natsUrl);
    const found = messages.filter(
      ({ type, text }) =>
        type === 'ledger.checkpoint.created' && text.includes(tenant.environmentId),
    );
    return found.length === 2 && found;
  });
  assert.equal(JSON.parse(published[0]?.text ?? '').checkpoint.statement, first.statement);
});

test('the projector signs by itself', async () => {
  const scheduled = await startStack({ checkpointIntervalSeconds: 1 });
  try {
    const own = await scheduled.tenant('schedule');
    const customer = await own.ok('POST', '/customers', { external_id: 's', name: 'S' });
    await own.ok('POST', '/wallets', { customer_id: customer.id, currency: 'usd' });
    const [only] = await eventually(async () => {
      const { items } = await own.ok('GET', '/ledger/checkpoints');
      return items.length > 0 && items;
    });
    assert.is(only.tree_size, 1);
  } finally {
    await scheduled.stop();
  }
});

test.run();
