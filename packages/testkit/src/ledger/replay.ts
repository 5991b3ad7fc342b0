import { type Command, wired } from './commands.ts';
import { entryNumbers } from './effects.ts';
import type { Exchange } from './exchange.ts';
import { type History, isIdle, newIdsIn } from './history.ts';
import { type MemoryClient, memoryClient } from './memory-client.ts';
import { allExchanges, type CustomerStory, debitRequests, inLogOrder } from './together.ts';

/** Carries out the commands that left events once more: at the same instants, in another place. */
export async function replayed(history: History, exchanges: readonly Exchange[]): Promise<History> {
  const wallets = [{ walletId: '', history, exchanges }];
  const [again] = await replayedTogether({ wallets, debits: { history: [], exchanges: [] } });
  return again ?? [];
}

/**
 * The same with all wallets of a customer, and the debits over them: each of those is carried out at once, so nothing
 * else may have come between its events.
 *
 * @returns the new history of each wallet
 */
export async function replayedTogether(story: CustomerStory): Promise<readonly History[]> {
  const client = memoryClient();
  const customer = await client.send({
    route: 'POST /customers',
    path: '/customers',
    params: {},
    body: { external_id: 'again', name: 'Again' },
    requestId: 'customer',
    key: null,
  });
  const customerId: string = customer.body.id;
  const names = new Map<string, string>();
  const ids = story.wallets.map(() => '');
  const requested = debitRequests(story.debits);
  const exchangeOf = new Map(
    allExchanges(story).map((exchange) => [exchange.requestId, exchange] as const),
  );
  /** The events of each wallet that have come again, without those about nothing: who had nothing to do is not asked again. */
  const done = story.wallets.map(() => 0);
  const learn = async (events: History, index: number) => {
    const first = done[index] ?? 0;
    const end = first + events.length;
    done[index] = end;
    const there = newIdsIn(events);
    // Most events have no id that a later command names, and a history is long to read.
    if (there.hold === '' && there.orders.length === 0) return;
    const here = (await client.history(ids[index] ?? '')).filter((event) => !isIdle(event));
    rename(there, newIdsIn(here.slice(first, end)), names);
  };
  for (const { wallet: index, group } of inLogOrder(story)) {
    const { correlation, at } = group;
    const events = group.events.filter((event) => !isIdle(event));
    if (events.length === 0) continue;
    await client.pass(at - client.now());
    const exchange = exchangeOf.get(correlation);
    if (index === null) {
      const isRequest = ['DebitRequested', 'RequestRefused'].includes(events[0]?.type ?? '');
      if (!isRequest || exchange?.command.kind !== 'debit-customer') continue;
      const command = { ...exchange.command, customer: customerId };
      const { key, sentAt: arrivedAt, requestId } = exchange;
      await client.send({ ...wired(command, customerId), requestId, key, arrivedAt });
      continue;
    }
    if (requested.has(correlation)) {
      await learn(events, index);
      continue;
    }
    const walletId = ids[index] ?? '';
    if (!exchange) {
      await client.settle(walletId);
      await learn(events, index);
      continue;
    }
    const there = exchange.command as Command;
    const history = story.wallets[index]?.history ?? [];
    if (there.kind === 'reverse') await nameEntry(there.entry, history, client, walletId, names);
    const command = renamed(there, names, customerId);
    const { key, sentAt: arrivedAt, requestId } = exchange;
    const answer = await client.send({ ...wired(command, walletId), requestId, key, arrivedAt });
    if (command.kind === 'create') ids[index] = answer.body.id;
    await learn(events, index);
  }
  return Promise.all(ids.map((id) => client.history(id)));
}

type Ids = ReturnType<typeof newIdsIn>;

/** Learns the ids that holds and orders have here, which had others there. */
function rename(there: Ids, here: Ids, names: Map<string, string>): void {
  names.set(there.hold, here.hold);
  for (const [index, id] of there.orders.entries()) names.set(id, here.orders[index] ?? '');
}

/** Learns the id that an entry has here, by its number. */
async function nameEntry(
  id: string,
  history: History,
  client: MemoryClient,
  walletId: string,
  names: Map<string, string>,
): Promise<void> {
  const number = entryNumbers(history).get(id);
  const here = await client.history(walletId);
  const entry = here.find(({ data }) => data.sequence === number);
  names.set(id, String(entry?.data.transaction_id));
}

function renamed(command: Command, names: ReadonlyMap<string, string>, customer: string): Command {
  if (command.kind === 'create') {
    return { ...command, body: { ...command.body, customer_id: customer } };
  }
  if ('entry' in command) return { ...command, entry: names.get(command.entry) ?? '' };
  if ('order' in command) return { ...command, order: names.get(command.order) ?? '' };
  return 'hold' in command ? { ...command, hold: names.get(command.hold) ?? '' } : command;
}
