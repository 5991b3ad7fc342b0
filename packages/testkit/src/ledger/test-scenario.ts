import { type Evidence, readAll } from './audit.ts';
import { memoryClient, memoryPrincipal } from './memory-client.ts';
import { runScenario } from './scenario-runner.ts';
import type { Plan, Scenario, Step } from './scenarios.ts';

const step = (plan: Plan, wait = 0, isKeyed = false): Step => ({ wait, isKeyed, plan });

const topUp = (figure: string, more: Partial<Extract<Plan, { kind: 'top-up' }>> = {}): Plan => ({
  kind: 'top-up',
  reason: 'FREE_CREDIT_GRANT',
  by: 'credits_to_add',
  figure,
  ahead: null,
  priority: null,
  bonus: null,
  behind: null,
  ...more,
});
/** Credits for an amount of money. */
export const bought = (figure: string): Plan => topUp(figure, { by: 'amount' });
const debit = (credits: string, behind: number | null = null): Plan => ({
  kind: 'debit',
  credits,
  description: null,
  behind,
});
const alerts: Plan = {
  kind: 'alerts',
  levels: {
    alert_enabled: true,
    critical: { threshold: '10', condition: 'below' },
    warning: { threshold: '40', condition: 'below' },
  },
};

/** Tops itself up whenever it can, twice a day. */
const topItselfUp = (invoicing: boolean): Plan => ({
  kind: 'auto',
  settings: { enabled: true, amount: '2', threshold: '100000', invoicing, daily_limit: 2 },
});

/** A story in which everything happens that a wallet can do. */
export const fullScenario = (type: Scenario['type'] = 'PRE_PAID'): Scenario => ({
  type,
  rate: '0.5',
  topUpRate: '3',
  initial: '100',
  initialAhead: 20,
  levels: null,
  auto: null,
  unit: 1_000,
  steps: [
    step(alerts),
    step(topUp('100', { by: 'amount', reason: 'PURCHASED_CREDIT_DIRECT', priority: 1 }), 1, true),
    step(topUp('5', { ahead: 10, bonus: '7.000000007', priority: 0 })),
    step(debit('50'), 1, true),
    step({ kind: 'repeat', back: 0, isChanged: false }),
    step({ kind: 'repeat', back: 0, isChanged: true }),
    step({ kind: 'hold', credits: '20', ahead: 3 }),
    step({ kind: 'hold', credits: '30.5', ahead: null }),
    step({ kind: 'hold', credits: '1', ahead: 25 }),
    step({ kind: 'change-hold', back: 1, credits: '32', ahead: null }),
    step({ kind: 'change-hold', back: 0, credits: '0.5', ahead: 26 }),
    step({ kind: 'capture', back: 1, credits: '5', isLast: false }),
    step({ kind: 'capture', back: 1, credits: '10.25', isLast: true }),
    step({ kind: 'reverse', back: 1, credits: '20', ahead: null }),
    step({ kind: 'reverse', back: 0, credits: '3', ahead: 30 }, 0, true),
    step({ kind: 'settle' }, 5),
    step({ kind: 'void', back: 0 }, 1),
    step(
      {
        kind: 'bulk',
        atomic: false,
        entries: [
          { type: 'credit', credits: '3', ahead: 40, priority: null, behind: null },
          { type: 'debit', credits: type === 'PRE_PAID' ? '1000' : '1', behind: null },
          { type: 'debit', credits: '2', behind: 1 },
        ],
      },
      1,
      true,
    ),
    step(topUp('2', { behind: 3 })),
    step(debit('3', 2)),
    step(debit(type === 'PRE_PAID' ? '100000' : '1', 2), 0, true),
    step(debit('3', 10000)),
    step(topUp('11', { reason: 'PURCHASED_CREDIT_INVOICED', ahead: 50 })),
    step(topUp('12', { reason: 'PURCHASED_CREDIT_INVOICED', by: 'amount' }), 0, true),
    step({ kind: 'complete', back: 1 }, 1, true),
    step({ kind: 'complete', back: 1 }),
    step({ kind: 'cancel', back: 1 }),
    step({ kind: 'cancel', back: 0 }),
    step(topUp('13', { reason: 'PURCHASED_CREDIT_INVOICED' })),
    step(topItselfUp(true)),
    step(debit('1')),
    step({ kind: 'complete', back: 0 }),
    step(debit('1')),
    step(topItselfUp(false)),
    step({ kind: 'cancel', back: 0 }),
    step(debit('1')),
    step({ kind: 'auto', settings: null }),
    step({ kind: 'freeze' }),
    step({ kind: 'freeze' }, 0, true),
    step(debit('1'), 0, true),
    step(topUp('1')),
    step({ kind: 'unfreeze' }),
    step({ kind: 'repeat', back: 1, isChanged: false }),
    step({ kind: 'settle' }, 20),
    step(debit(type === 'PRE_PAID' ? '9' : '150')),
    step(topUp('30', { behind: 8 })),
    step(topUp('200', { reason: 'PURCHASED_CREDIT_DIRECT', by: 'amount' })),
    step(debit('66', 0)),
    step({ kind: 'bad', which: 0 }),
    step(topUp('90')),
    step(debit('50'), 1),
    step({ kind: 'reverse', back: 0, credits: '50', ahead: null }, 1),
    step({ kind: 'reverse', back: 0, credits: '1', ahead: null }, 0, true),
    step(topUp('5', { priority: -1 })),
    step(debit('1000', 1)),
    step(debit('2', 1)),
    step({ kind: 'terminate' }, 0, true),
    step({ kind: 'repeat', back: 0, isChanged: false }),
    step(debit('1')),
    step(topUp('1')),
  ],
});

const plain = { ...fullScenario(), initial: '0', initialAhead: null } as const;
const hold = (credits: string): Plan => ({ kind: 'hold', credits, ahead: null });
const end = (back: number): Plan => ({ kind: 'void', back });
const reverse: Plan = { kind: 'reverse', back: 0, credits: null, ahead: null };

/** Short stories about credits that a reversal gave back: they were not there before, whoever held them since. */
export const reversalStories: Readonly<Record<string, Scenario>> = {
  'what the lot had kept pays once': {
    ...plain,
    steps: [
      step(topUp('3')),
      step(debit('2'), 1),
      step(reverse, 4),
      step(debit('1', 4), 1),
      step(debit('1', 5), 1),
    ],
  },
  'a hold has nothing of what the lot had kept': {
    ...plain,
    steps: [
      step(topUp('3')),
      step(debit('1'), 1),
      step(reverse, 4),
      step(hold('1'), 1),
      step(debit('2', 5), 1),
      step(end(0), 1),
      step(debit('1', 7), 1),
    ],
  },
  'two holds end, the older one first': {
    ...plain,
    steps: [
      step(topUp('10')),
      step(hold('2'), 1),
      step(debit('8'), 1),
      step(reverse, 3),
      step(hold('8'), 1),
      step(end(1), 1),
      step(end(0), 1),
      step(debit('3', 5), 1),
    ],
  },
  'a hold is raised by it': {
    ...plain,
    steps: [
      step(topUp('10')),
      step(hold('2'), 1),
      step(debit('8'), 1),
      step(reverse, 3),
      step({ kind: 'change-hold', back: 0, credits: '10', ahead: null }, 1),
      step(end(0), 1),
      step(debit('3', 4), 1),
    ],
  },
};

const inTurn = [step(topUp('3', { priority: 0 })), step(topUp('5'))];

/** Short stories about which lot gets credits back first: the one that was drawn last. */
export const returnStories: Readonly<Record<string, Scenario>> = {
  'a reversal in part': {
    ...plain,
    steps: [
      ...inTurn,
      step(debit('6'), 1),
      step({ kind: 'reverse', back: 0, credits: '2', ahead: null }, 1),
      step({ kind: 'reverse', back: 0, credits: '2', ahead: null }, 1),
    ],
  },
  'a hold that is lowered': {
    ...plain,
    steps: [
      ...inTurn,
      step(hold('6'), 1),
      step({ kind: 'change-hold', back: 0, credits: '4', ahead: null }, 1),
      step({ kind: 'change-hold', back: 0, credits: '1', ahead: null }, 1),
    ],
  },
  'a hold that is captured in parts': {
    ...plain,
    steps: [
      ...inTurn,
      step(hold('6'), 1),
      step({ kind: 'capture', back: 0, credits: '1', isLast: false }, 1),
      step({ kind: 'capture', back: 0, credits: '3', isLast: false }, 1),
      step(debit('3'), 1),
      step({ kind: 'capture', back: 0, credits: '1', isLast: true }, 1),
    ],
  },
};

const beside = { ...plain, priority: null };
const debitAll = (
  figure: string,
  more: { by?: 'credits'; isPartial?: boolean; behind?: number } = {},
): Plan => ({
  kind: 'debit-customer',
  by: 'amount',
  isPartial: false,
  behind: null,
  ...more,
  figure,
});

const critical = { threshold: '5', condition: 'below' as const };

/** A wallet that may owe is asked after those that have credits, unless it has the priority. */
export const owingStory: Scenario = {
  ...plain,
  type: 'POST_PAID',
  initial: '10',
  others: [{ ...beside, initial: '20', levels: { alert_enabled: true, critical } }],
  steps: [
    step(debitAll('4'), 1),
    step(debitAll('9'), 1, true),
    step(debitAll('3', { isPartial: true }), 0, true),
    { ...step(topUp('2')), wallet: 1 },
    step({ kind: 'priority', priority: 1 }),
    step(debitAll('3'), 1),
  ],
};

/** A wallet that has just enough pays alone. */
export const enoughStory: Scenario = {
  ...plain,
  initial: '10',
  others: [{ ...beside, initial: '20' }],
  // A credit is worth half a dollar.
  steps: [step(debitAll('5')), step(debitAll('10')), step(debitAll('0.000000001'))],
};

/** The breaker has stopped a wallet yesterday; what a debit sets aside today is no occasion to go on. */
export const shareStory: Scenario = {
  ...plain,
  auto: { enabled: true, amount: '5', threshold: '0', invoicing: false, daily_limit: 1 },
  unit: 3_600_000,
  steps: [step(debit('6')), step(debitAll('6'), 28), step(debitAll('1'))],
};

/** Debits over three wallets, at two rates, by priority and by age; one expires, one tops itself up. */
export const customerStory: Scenario = {
  ...plain,
  initial: '10',
  others: [
    {
      ...beside,
      initial: '20',
      initialAhead: 30,
      priority: 1,
      levels: { alert_enabled: true, critical },
    },
    { ...beside, initial: '7', rate: '3', auto: { enabled: true, amount: '5', threshold: '0' } },
  ],
  steps: [
    step(debitAll('1'), 1, true),
    step(debitAll('12'), 1, true),
    { ...step({ kind: 'repeat', back: 0, isChanged: false }), wallet: 1 },
    { ...step({ kind: 'repeat', back: 0, isChanged: true }), wallet: 1 },
    step(debitAll('1000'), 1, true),
    step({ kind: 'reverse', back: 0, credits: '1', ahead: null }, 1),
    { ...step({ kind: 'reverse', back: 0, credits: '2', ahead: null }), wallet: 1 },
    step({ kind: 'priority', priority: -1 }),
    step(debitAll('3', { by: 'credits' })),
    step(hold('2')),
    step(debitAll('10')),
    step({ kind: 'freeze' }),
    step(debitAll('1000', { isPartial: true }), 1, true),
    { ...step(topUp('4'), 30), wallet: 1 },
    step(debitAll('1.5', { isPartial: true })),
    step({ kind: 'unfreeze' }),
    step(debitAll('3')),
  ],
};

/**
 * Debits over several wallets that are dated back take what was there then and ever since: not what came later, nor
 * what a reversal gave back later; one that is refused leaves all to be taken, and orders no top-up.
 */
export const datedStory: Scenario = {
  ...plain,
  initial: '10',
  others: [{ ...beside, initial: '5', auto: { enabled: true, amount: '50', threshold: '0' } }],
  steps: [
    step(debit('6'), 10),
    step(topUp('20'), 10),
    step({ kind: 'reverse', back: 0, credits: '3', ahead: null }, 1),
    step(debitAll('10', { behind: 12 }), 1, true),
    step(debitAll('8', { behind: 12 }), 1, true),
    step(debitAll('1', { behind: 12 }), 1),
    step(debitAll('100', { behind: 13, isPartial: true }), 1),
    step(debitAll('1', { behind: 60 }), 1, true),
    step(debitAll('3', { behind: 1 }), 1),
    step({ kind: 'reverse', back: 0, credits: '1', ahead: null }, 1),
  ],
};

/** The breaker stops what a wallet orders without a word about payment, and goes on on the next day. */
export const breakerStory: Scenario = {
  ...plain,
  initial: '100',
  auto: { enabled: true, amount: '5', threshold: '1000', daily_limit: 1 },
  unit: 3_600_000,
  steps: [
    step({ kind: 'complete', back: 0 }, 1),
    step(debit('1'), 1),
    step({ kind: 'complete', back: 0 }, 30),
    step({ ...topUp('9', { reason: 'PURCHASED_CREDIT_INVOICED', ahead: 5 }) }, 1),
    step({ kind: 'debit', credits: '500', isPartial: true, description: null, behind: null }, 50),
  ],
};

/** The full story, played in memory, with all that the checkers want to know. */
export async function fullEvidence(type: Scenario['type'] = 'PRE_PAID'): Promise<Evidence> {
  const client = memoryClient();
  const options = { name: 'story', clients: 1, lead: 0 };
  const { wallets } = await runScenario(client, fullScenario(type), options);
  const [{ walletId, exchanges } = { walletId: '', exchanges: [] }] = wallets;
  const { tenantId, environmentId } = memoryPrincipal;
  const all = await readAll(client, walletId);
  return { ...all, exchanges, tenantId, environmentId, strangers: [] };
}
