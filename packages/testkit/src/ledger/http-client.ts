import { setTimeout as pause } from 'node:timers/promises';
import type { EventStore } from '@counterfoil/engine';
import { eventually } from '../eventually.ts';
import type { TestTenant } from '../stack.ts';
import type { LedgerClient } from './client.ts';
import { historyOf } from './history.ts';
import { readQuery } from './memory-client.ts';

/** The service behind its API, and the log that it writes. */
export function httpClient(tenant: TestTenant, store: EventStore): LedgerClient {
  const streamOf = (walletId: string): string => `wallet-${tenant.environmentId}.${walletId}`;
  return {
    now: () => Date.now(),
    nowAtMost: () => Date.now(),
    pass: (milliseconds) => pause(milliseconds),
    settle: () => Promise.resolve(),
    history: (walletId) => historyOf(store.readStream(streamOf(walletId))),
    debits: (customerId, currency) =>
      historyOf(
        store.readStream(`customer_debits-${tenant.environmentId}.${customerId}_${currency}`),
      ),
    send: async ({ route, path, body, requestId, key }) => {
      const method = route.split(' ')[0] ?? '';
      const answer = await tenant.call(method, path, body, {
        'x-request-id': requestId,
        ...(key === null ? {} : { 'idempotency-key': key }),
      });
      const isReplay = answer.headers.get('idempotency-replayed') === 'true';
      return { status: answer.status, body: answer.body, isReplay };
    },
    read: async (walletId, path, asked = readQuery(path)) => {
      const last = await store.readLast(streamOf(walletId));
      const place = { 'counterfoil-min-position': String(last?.position ?? 0n) };
      const query = new URLSearchParams(asked);
      const url = `/wallets/${walletId}${path}?${query}`;
      let seen = '';
      return eventually(
        async () => {
          const { status, body, text } = await tenant.call('GET', url, undefined, place);
          seen = `${status} ${text}`;
          return status === 200 && body;
        },
        () => `GET ${url}: ${seen}`,
      );
    },
  };
}
