/**
 * Debits of customers in a process of its own, each of which stands still before one of its appends so that a test can
 * kill it there: the wallets of the customer, what is asked for, and the number of the append.
 */
import { createStreams, openEventStore, RecentWrites, RequestRunner } from '@counterfoil/engine';
import type { Reader } from '@counterfoil/engine/define';
import { modules, wallets } from '@counterfoil/modules';
import { callRoute } from '../call-route.ts';
import { testPrincipal } from '../principal.ts';

export interface DebitToHalt {
  readonly eventStoreUrl: string;
  readonly tenantId: string;
  readonly environmentId: string;
  readonly customerId: string;
  readonly walletIds: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
  readonly key: string;
  /** Number of the append before which it halts, from 1 on. */
  readonly haltAt: number;
}

const given = JSON.parse(process.argv[2] ?? '') as readonly DebitToHalt[];
const opened = openEventStore({ url: given[0]?.eventStoreUrl ?? '' });
const aggregates = modules({ secrets: null }).flatMap((slice) => slice.aggregates);
const route = wallets.routes['POST /customers/{id}/debit'];
if (!route?.body) throw new Error('a customer cannot be debited');
const schema = route.body;

/** A way to the log that ends before an append. */
function haltingStore(haltAt: number): typeof opened {
  const forever = new Promise<never>(() => undefined);
  let appends = 0;
  return {
    ...opened,
    append: async (...appended) => {
      appends += 1;
      if (appends < haltAt) return opened.append(...appended);
      process.send?.('halted');
      return forever;
    },
  };
}

/** The read model, of which a debit asks for nothing but the customer's wallets. */
const readerOf = (walletIds: readonly string[]): Reader =>
  ({
    list: async () => ({
      items: walletIds.map((id) => ({ id })),
      pagination: { limit: walletIds.length, offset: 0, total: walletIds.length },
    }),
  }) as unknown as Reader;

const debit = ({ customerId, walletIds, haltAt, ...asked }: DebitToHalt): Promise<unknown> => {
  const place = {
    tenantId: asked.tenantId as never,
    environmentId: asked.environmentId as never,
  };
  const runner = new RequestRunner(
    {
      streams: createStreams({ store: haltingStore(haltAt), aggregates }),
      readSide: {
        reader: () => readerOf(walletIds),
        projected: { position: () => 0n, waitFor: () => Promise.resolve(true) },
      },
      recentWrites: new RecentWrites(),
      now: Date.now,
    },
    {
      principal: { ...testPrincipal(), ...place },
      requestId: 'req_halting',
      receivedAt: new Date().toISOString() as never,
      route: 'POST /customers/{id}/debit',
      operation: `POST /customers/${customerId}/debit`,
      idempotencyKey: asked.key,
      fields: { ...(schema.parse(asked.body) as object), id: customerId },
      ifMatch: null,
      minimumPosition: null,
    },
  );
  const { body } = asked;
  return callRoute(route, runner.context, { params: { id: customerId }, body });
};

for (const each of given) {
  debit(each).then(
    () => process.send?.('answered'),
    (error: unknown) => process.send?.(`${error}`),
  );
}
// Whoever started it may die without saying so.
process.on('disconnect', () => process.exit(1));
