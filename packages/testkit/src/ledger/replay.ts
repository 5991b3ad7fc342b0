import { type Command, wired } from './commands.ts';
import { entryNumbers } from './effects.ts';
import type { Exchange } from './exchange.ts';
import { groupsOf, type History, newIdsIn } from './history.ts';
import { type MemoryClient, memoryClient } from './memory-client.ts';

/** Carries out the commands that left events once more: at the same instants, in another place. */
export async function replayed(history: History, exchanges: readonly Exchange[]): Promise<History> {
  const client = memoryClient();
  const byRequest = new Map(exchanges.map((exchange) => [exchange.requestId, exchange]));
  const customer = await client.send({
    route: 'POST /customers',
    path: '/customers',
    params: {},
    body: { external_id: 'again', name: 'Again' },
    requestId: 'customer',
    key: null,
  });
  const names = new Map<string, string>();
  let walletId = '';
  for (const { correlation, at, events } of groupsOf(history)) {
    await client.pass(at - client.now());
    const exchange = byRequest.get(correlation);
    if (!exchange) {
      await client.settle(walletId);
      await rename(events, client, walletId, names);
      continue;
    }
    const there = exchange.command as Command;
    if (there.kind === 'reverse') await nameEntry(there.entry, history, client, walletId, names);
    const command = renamed(there, names, customer.body.id);
    const { key, sentAt: arrivedAt, requestId } = exchange;
    const answer = await client.send({ ...wired(command, walletId), requestId, key, arrivedAt });
    if (command.kind === 'create') walletId = answer.body.id;
    await rename(events, client, walletId, names);
  }
  return client.history(walletId);
}

/** Learns the ids that holds and orders have here, which had others there. */
async function rename(
  events: History,
  client: MemoryClient,
  walletId: string,
  names: Map<string, string>,
): Promise<void> {
  const there = newIdsIn(events);
  if (there.hold === '' && there.orders.length === 0) return;
  const here = newIdsIn((await client.history(walletId)).slice(-events.length));
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
