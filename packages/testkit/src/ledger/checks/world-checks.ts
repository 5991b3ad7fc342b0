import { isDeepStrictEqual } from 'node:util';
import type { LedgerAnswer } from '../exchange.ts';
import { type History, isIdle } from '../history.ts';
import { checker, must } from './fault.ts';

/** The owner of the ledger, and what strangers were told when they asked for it. */
export interface Owned {
  readonly history: History;
  readonly tenantId: string;
  readonly environmentId: string;
  readonly strangers: readonly LedgerAnswer[];
}

/** I10: all of a ledger belongs to one tenant and environment, and nobody else can see that it is there. */
export const checkIsolation = checker(
  'I10',
  ({ history, tenantId, environmentId, strangers }: Owned) => {
    for (const event of history) {
      const { tenant_id, environment_id } = event.metadata;
      must(tenant_id === tenantId, event, `belongs to tenant ${tenant_id}`);
      must(environment_id === environmentId, event, `belongs to environment ${environment_id}`);
      const isOwn = event.stream.startsWith(`wallet-${environmentId}.`);
      must(isOwn, event, `stands in ${event.stream}`);
    }
    for (const { status, body } of strangers) {
      must(status === 404 && body.code === 'not_found', null, `a stranger was answered ${status}`);
    }
  },
);

const ids = /\b(?:(?:wallet|wtxn|hold|cust|debit)_[0-9A-Z]{26}|user_\w+)\b/g;

/** Returns what was decided, with every id named by its first appearance. */
function decided(history: History): unknown[] {
  const names = new Map<string, string>();
  const named = (id: string): string => {
    const name = names.get(id) ?? `${id.split('_')[0]} ${names.size}`;
    names.set(id, name);
    return name;
  };
  return history.map(({ type, data, metadata }) => ({
    type,
    at: metadata.occurred_at,
    data: JSON.parse(JSON.stringify(data).replaceAll(ids, named)),
  }));
}

/**
 * I11: the same commands at the same instants lead to the same events, anywhere and at any time. When the service finds out that it has
 * nothing to do to a wallet, because of what a request led to elsewhere, is nobody's command.
 */
export const checkDeterminism = checker(
  'I11',
  ({ history, again }: { readonly history: History; readonly again: History }) => {
    const commanded = history.filter((event) => !isIdle(event));
    const [first, second] = [decided(commanded), decided(again.filter((event) => !isIdle(event)))];
    for (const [index, event] of commanded.entries()) {
      const isSame = isDeepStrictEqual(first[index], second[index]);
      const message = `${JSON.stringify(second[index])} instead of ${JSON.stringify(first[index])}`;
      must(isSame, event, `was decided as ${message}`);
    }
    must(
      first.length === second.length,
      null,
      `${second.length} events instead of ${first.length}`,
    );
  },
);
