import { type Command, wired } from './commands.ts';
import { groupsOf, type History } from './history.ts';
import { memoryClient } from './memory-client.ts';
import type { Trace } from './trace.ts';

/** Carries out what left events once more: the same commands at the same instants, in another place. */
export async function playedAgain(history: History, traces: readonly Trace[]): Promise<History> {
  const client = memoryClient();
  const byRequest = new Map(traces.map((trace) => [trace.requestId, trace]));
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
    const trace = byRequest.get(correlation);
    if (!trace) {
      await client.settle(walletId);
      continue;
    }
    const command = renamed(trace.command as Command, names, customer.body.id);
    const { key, sentAt: arrivedAt, requestId } = trace;
    const answer = await client.send({ ...wired(command, walletId), requestId, key, arrivedAt });
    if (command.kind === 'create') walletId = answer.body.id;
    if (command.kind !== 'hold') continue;
    const made = events.find(({ type }) => type === 'CreditsHeld')?.data.hold_id;
    if (made) names.set(made, answer.body.id);
  }
  return client.history(walletId);
}

function renamed(command: Command, names: ReadonlyMap<string, string>, customer: string): Command {
  if (command.kind === 'create') {
    return { ...command, body: { ...command.body, customer_id: customer } };
  }
  return 'hold' in command ? { ...command, hold: names.get(command.hold) ?? '' } : command;
}
