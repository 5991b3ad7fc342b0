/** The attacker as a process of its own: takes one order from its parent, and tells its answers when asked. */
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { type Attack, type AttackOrder, attacks } from './attacks.ts';

const parent = process.send?.bind(process);
if (!parent) throw new Error('the attacker is started by the benchmark');

const answers: Record<number, number> = {};
const count = (status: number): void => {
  answers[status] = (answers[status] ?? 0) + 1;
};

const headersOf = (apiKey: string) => ({ 'x-api-key': apiKey, 'content-type': 'application/json' });

/** Without this, a connection that is refused at once would make the attacker the load. */
const reopenMilliseconds = 50;

async function sendRequests(
  { connections, requests }: Extract<Attack, { kind: 'requests' }>,
  { baseUrl, apiKey }: AttackOrder,
): Promise<void> {
  const pool = new Pool(baseUrl, { connections, pipelining: 1 });
  const sent = requests();
  const headers = headersOf(apiKey);
  const attack = async (first: number): Promise<void> => {
    for (let index = first; ; index += 1) {
      const { path, body } = sent[index % sent.length] ?? { path: '/', body: '' };
      try {
        const answer = await pool.request({ method: 'POST', path: `/v1${path}`, headers, body });
        await answer.body.dump();
        count(answer.statusCode);
      } catch {
        count(0);
        await pause(reopenMilliseconds);
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, index) => attack(index)));
}

function openSlowly(order: AttackOrder): void {
  const { baseUrl, apiKey } = order;
  const { hostname, port } = new URL(baseUrl);
  const socket: Socket = connect(Number(port), hostname);
  const head = Object.entries({ host: hostname, ...headersOf(apiKey), 'content-length': 100 });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`POST /v1/customers HTTP/1.1\r\n${lines}\r\n{`);
  socket.once('data', (bytes) => count(Number(bytes.subarray(9, 12).toString())));
  socket.on('error', () => count(0));
  socket.once('close', () => setTimeout(openSlowly, reopenMilliseconds, order));
}

function begin(order: AttackOrder): void {
  const attack: Attack = attacks[order.attack];
  if (attack.kind === 'requests') void sendRequests(attack, order);
  else for (let opened = 0; opened < attack.connections; opened += 1) openSlowly(order);
}

process.once('message', (order: AttackOrder) => {
  process.once('message', () => parent(answers, () => process.exit()));
  begin(order);
});
// Without the parent the attack has no purpose.
process.once('disconnect', () => process.exit());
