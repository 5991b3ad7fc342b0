import { setTimeout as pause } from 'node:timers/promises';
import { type Demo, demoKeyOf, OperatorError } from '@counterfoil/cli/settings';
import {
  categoryPrefix,
  type EventStore,
  type Position,
  parseStreamName,
} from '@counterfoil/engine';
import { api } from './api.ts';
import { LedgerCheck, type Told } from './ledger-check.ts';

/** The verdict on a load: its faults, and the comparison behind them. */
export interface Verdict {
  readonly faults: readonly string[];
  readonly checked: string;
}

const prefixes = [categoryPrefix('wallet')];
const pageMaximum = 1_000;

/**
 * Compares the answers that clients got with the log, from a position on, and the read model with the log.
 * The read model must have caught up before.
 */
export async function judge(
  { store, demo }: { readonly store: EventStore; readonly demo: Demo },
  after: Position,
  told: Told,
): Promise<Verdict> {
  const check = new LedgerCheck(told);
  const upTo = await store.head();
  for await (const event of store.readLog({ prefixes, after, upTo })) check.take(event);
  const faults = [...check.faults(), ...(await wrongRows(demo, check.balances))];
  const wallets = check.balances.size.toLocaleString('en-US');
  const entries = check.entries.toLocaleString('en-US');
  return {
    faults,
    checked:
      `${entries} entries of ${wallets} wallets: acknowledged = applied, each key once, ` +
      'no balance below zero, read model = log',
  };
}

interface WalletPage {
  readonly items: readonly { readonly id: string; readonly credit_balance: string }[];
}

/** Wallets whose balance in the read model differs from that of the log. */
async function wrongRows(demo: Demo, balances: ReadonlyMap<string, bigint>): Promise<string[]> {
  const left = new Map(
    [...balances].map(([stream, balance]) => [parseStreamName(stream)?.id ?? stream, balance]),
  );
  const ids = [...left.keys()];
  const faults: string[] = [];
  for (let start = 0; start < ids.length; start += pageMaximum) {
    const page = await api<WalletPage>(demo, 'POST', '/wallets/search', {
      wallet_ids: ids.slice(start, start + pageMaximum),
      limit: pageMaximum,
    });
    for (const { id, credit_balance } of page.items) {
      const balance = left.get(id);
      left.delete(id);
      if (String(balance) === credit_balance) continue;
      faults.push(`${id}: the read model has ${credit_balance}, the log ${balance}`);
    }
  }
  return [...faults, ...[...left.keys()].map((id) => `${id} is not in the read model`)];
}

const visibleMilliseconds = 600_000;
const pollMilliseconds = 20;

/** Waits until the read model shows the whole log. Throws `OperatorError` when it does not in time. */
export async function untilVisible(store: EventStore, demo: Demo): Promise<void> {
  const position = String(await store.head());
  const deadline = Date.now() + visibleMilliseconds;
  while (Date.now() < deadline) {
    const answer = await fetch(`${demo.base_url}/v1/wallets/search`, {
      method: 'POST',
      headers: {
        'x-api-key': demoKeyOf(demo),
        'content-type': 'application/json',
        'counterfoil-min-position': position,
      },
      body: '{"limit":1}',
    }).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    await pause(pollMilliseconds);
  }
  throw new OperatorError(`The read model has not reached position ${position}.`);
}
