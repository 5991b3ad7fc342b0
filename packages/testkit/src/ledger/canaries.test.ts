import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Canary, survivors } from '../canaries/canary.ts';

const test = suite('planted bugs of the wallet ledger');

/** The tests that have to find them; they pass without them, as every run shows. */
const proof = ['packages/testkit/src/ledger/proof.test.ts'];

const wallets = 'packages/modules/src/wallets';
const commands = 'packages/engine/src/decide';

const canary = (name: string, path: string, text: string, bug: string): Canary => ({
  name,
  path,
  text,
  bug,
});

const lots: readonly Canary[] = [
  canary(
    'what expires first is spent before what has priority',
    `${wallets}/ledger/lots.ts`,
    'nullsLast(a.priority, b.priority) ||\n  nullsLast(a.expires_at, b.expires_at) ||',
    'nullsLast(a.expires_at, b.expires_at) ||\n  nullsLast(a.priority, b.priority) ||',
  ),
  canary(
    'purchased credits are spent before free ones',
    `${wallets}/ledger/lots.ts`,
    '{ free: 0, purchased: 1 } as const',
    '{ free: 1, purchased: 0 } as const',
  ),
  canary(
    'a lot can be spent at the instant at which it expires',
    `${wallets}/ledger/due.ts`,
    'item.expires_at > at) continue;',
    'item.expires_at >= at) continue;',
  ),
  canary(
    'an expiry takes effect when it is booked',
    `${wallets}/ledger/due.ts`,
    'expiryEvent(wallet, lot, instant, at)',
    'expiryEvent(wallet, lot, at, at)',
  ),
  canary(
    'credits for an amount are rounded half up',
    'packages/kernel/src/decimal.ts',
    'divider.RM = Big.roundHalfEven;',
    'divider.RM = Big.roundHalfUp;',
  ),
  canary(
    'a load does not pay the debt',
    `${wallets}/ledger/entries.ts`,
    'return textOf(available.cmp(zero) > 0 ? available : zero);',
    'return credits;',
  ),
  canary(
    'an amount is at the rate of top-ups',
    `${wallets}/ledger/entries.ts`,
    'amount: textOf(decimal(credits).times(decimal(rate))),',
    'amount: textOf(decimal(credits).times(decimal(wallet.topup_conversion_rate))),',
  ),
  canary(
    'the chain of balances is broken',
    `${wallets}/ledger/entries.ts`,
    'credit_balance_before: wallet.credit_balance,',
    'credit_balance_before: zeroText,',
  ),
];

const holds: readonly Canary[] = [
  canary(
    'held credits can be spent again',
    `${wallets}/wallet.ts`,
    'lots: afterDraws(wallet.lots, drawn), holds: [',
    'lots: wallet.lots, holds: [',
  ),
  canary(
    'a hold can end twice',
    `${wallets}/wallet.ts`,
    'lots: afterDraws(lots, event.data.drawn) };',
    'lots: afterDraws(lots, event.data.drawn), holds: wallet.holds };',
  ),
  canary(
    'more can be captured than was held',
    `${wallets}/holds/decisions.ts`,
    'decimal(credits).cmp(decimal(hold.credits)) > 0',
    'decimal(credits).cmp(decimal(hold.credits)) > 1',
  ),
  canary(
    'a capture in part keeps the rest',
    `${wallets}/holds/holds.ts`,
    'const left = afterDraws(hold.parts, own);',
    'const left = own.length > 0 ? [] : hold.parts;',
  ),
];

const states: readonly Canary[] = [
  canary(
    'a frozen wallet gives credits',
    `${wallets}/decisions.ts`,
    "if (wallet.wallet_status !== 'frozen') return wallet;",
    "if (wallet.wallet_status !== 'closed') return wallet;",
  ),
  canary(
    'a PRE_PAID wallet may owe',
    `${wallets}/decisions.ts`,
    "if (wallet.wallet_type === 'POST_PAID') return;",
    "if (wallet.currency === 'usd') return;",
  ),
  canary(
    'a closed wallet takes credits',
    `${wallets}/decisions.ts`,
    "  if (state.wallet_status === 'closed') {",
    "  if (state.wallet_status === 'closed' && purpose !== 'take credits') {",
  ),
  canary(
    'an atomic bulk keeps what went well',
    `${wallets}/bulk/bulk.ts`,
    'if (isAtomic) throw',
    'if (isAtomic && results.length === 0) throw',
  ),
  canary(
    'an alert is told again with every movement',
    `${wallets}/alerts.ts`,
    'if (after === before) return [];',
    "if (after === before && after === 'ok') return [];",
  ),
  canary(
    'the read model keeps what a load once had',
    `${wallets}/ledger/transaction.ts`,
    'credits_available: draw.remaining,',
    'credits_available: load.credits_available,',
  ),
];

const requests: readonly Canary[] = [
  canary(
    'a key does not care about the body',
    `${commands}/request-fingerprint.ts`,
    'if (fields.length === 0) return;',
    'if (fields.length >= 0) return;',
  ),
  canary(
    'a key is forgotten',
    `${commands}/request-fingerprint.ts`,
    '.slice(0, 32),',
    '.slice(0, 32) + Math.random(),',
  ),
  canary(
    'another body with a known key has an effect of its own',
    `${commands}/request-fingerprint.ts`,
    'key: sha256(',
    'key: sha256(JSON.stringify(digests) + ',
  ),
  canary(
    'a refusal is not remembered',
    `${commands}/batch.ts`,
    'reason.isRemembered && command.mark !== null;',
    "reason.isRemembered && command.mark?.key === '';",
  ),
  canary(
    'only the first event of an append is linked to the one before it',
    `${commands}/batch.ts`,
    'prev: after.head.hash,',
    'prev: stream.head.hash,',
  ),
];

/** Two at a time: more would only be in each other's way. */
async function survivorsOf(canaries: readonly Canary[]): Promise<readonly string[]> {
  const half = Math.ceil(canaries.length / 2);
  const halves = [canaries.slice(0, half), canaries.slice(half)];
  return (await Promise.all(halves.map((each) => survivors(each, proof)))).flat();
}

for (const [name, canaries] of Object.entries({ lots, holds, states, requests })) {
  test(`every bug of ${name} is caught (${canaries.length})`, async () => {
    assert.equal(await survivorsOf(canaries), []);
  });
}

test.run();
