import type { Demo } from '@counterfoil/cli/settings';
import { api } from '../api.ts';
import { type AttackName, attacks } from '../attack/attacks.ts';
import { attackDuring } from '../attack/run-attack.ts';
import { type Measurement, measure } from '../measure.ts';
import { type Figure, type Result, shown } from '../report.ts';
import type { Scenario, World } from '../scenario.ts';
import { writers } from './writes.ts';

const clients = 16;
/** Debits per second of the tenant that is attacked: a steady trickle, and no load by itself. */
const perSecond = 50;

/** Beside an attack, the 99th percentile of somebody else at most triples, or stays below this. */
const allowedFactor = 3;
const allowedMilliseconds = 50;

/** ATTACK: debits of one tenant alone, and then beside each attack by a key of another one. */
export const attacked: Scenario = {
  id: 'ATTACK',
  title: `debits at ${perSecond} /s`,
  run: async (world) => {
    const apiKey = await secondTenant(world.demo);
    const wallets = await world.wallets();
    const pace = { kind: 'open', perSecond } as const;
    const parts = [writers(clients, pace, { wallets, movement: { kind: 'debit' } })];
    const measured = (title: string, beside?: Measurement['beside']): Promise<Result> =>
      measure(world, { scenario: attacked.id, title, clients, parts, ...(beside && { beside }) });

    const idle = await measured(`${attacked.title}, alone`);
    const results = [idle];
    for (const name of Object.keys(attacks) as AttackName[]) {
      const beside = (load: Promise<unknown>) => attackWith(world, name, apiKey, load);
      const result = await measured(`${attacked.title}, beside ${name}`, beside);
      results.push({ ...result, faults: [...result.faults, ...tooSlow(idle, result)] });
    }
    return results;
  },
};

async function attackWith(
  { demo }: World,
  attack: AttackName,
  apiKey: string,
  load: Promise<unknown>,
): Promise<readonly Figure[]> {
  const answers = await attackDuring({ attack, baseUrl: demo.base_url, apiKey }, load);
  return Object.entries(answers).map(([status, value]) => ({
    name:
      status === '0' ? 'connections of the attacker cut off' : `attacker was answered ${status}`,
    value,
    unit: 'times',
  }));
}

/** The fault of answers that an attack delays too much. */
function tooSlow(idle: Result, result: Result): string[] {
  const [alone, beside] = [idle, result].map(({ samples }) => samples[0]?.latency.p99 ?? Infinity);
  const allowed = Math.max(allowedFactor * (alone ?? 0), allowedMilliseconds);
  if (beside !== undefined && beside <= allowed) return [];
  return [
    `p99 is ${shown(beside ?? Infinity)} ms beside the attack, ${shown(allowed)} are allowed`,
  ];
}

/** Makes a tenant with an environment, a user and a key; returns the key. */
async function secondTenant(demo: Demo): Promise<string> {
  const operator = { ...demo, base_url: demo.operator_url, api_key: demo.operator_key };
  const make = <Made>(path: string, body: object): Promise<Made> =>
    api<Made>(operator, 'POST', path, body);
  const tenant = await make<{ id: string }>('/tenants', { name: 'Attacker' });
  const of = `/tenants/${tenant.id}`;
  const person = { type: 'user', email: 'attacker@example.com', roles: ['super_admin'] };
  const environment = await make<{ id: string }>(`${of}/environments`, {
    name: 'Live',
    type: 'production',
  });
  const user = await make<{ id: string }>(`${of}/users`, person);
  const key = { user_id: user.id, name: 'attack' };
  return (await make<{ api_key: string }>(`${of}/environments/${environment.id}/keys`, key))
    .api_key;
}
