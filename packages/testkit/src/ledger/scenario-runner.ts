import { badCommands } from './bad-commands.ts';
import type { LedgerClient } from './client.ts';
import { type AnyCommand, type CreateBody, type CustomerCommand, wired } from './commands.ts';
import type { AnyExchange, CustomerExchange, Exchange } from './exchange.ts';
import type { Data } from './history.ts';
import { invoiced } from './orders.ts';
import type { BulkPlan, Plan, Scenario, Step, WalletTerms } from './scenarios.ts';

/** The result of a scenario: the wallets of its customer, and all requests with their answers. */
export interface ScenarioResult {
  readonly customerId: string;
  readonly wallets: readonly Pick<PlayedWallet, 'walletId' | 'exchanges'>[];
  /** Debits over all wallets. */
  readonly debits: readonly CustomerExchange[];
}

export interface ScenarioOptions {
  /** Makes customers, keys and requests of this run its own. */
  readonly name: string;
  /** Clients that work at the same time. */
  readonly clients: number;
  /** Milliseconds of one unit of time, where the scenario is not to say so. */
  readonly unit?: number;
  /** The least time from a request to an expiry in it, so that it lies in the future on arrival. */
  readonly lead: number;
}

/** The currency of all wallets. */
export const scenarioCurrency = 'usd';

/** Plays a scenario on wallets of its own. */
export async function runScenario(
  client: LedgerClient,
  scenario: Scenario,
  options: ScenarioOptions,
): Promise<ScenarioResult> {
  const run = new ScenarioRun(client, scenario, options);
  await run.open();
  const waiting = scenario.steps.values();
  const { unit = scenario.unit } = options;
  const lane = async () => {
    for (const step of waiting) {
      if (step.wait > 0) await client.pass(step.wait * unit);
      await run.act(step);
    }
  };
  await Promise.all(Array.from({ length: options.clients }, lane));
  const { customerId, wallets, debits } = run;
  return { customerId, wallets, debits };
}

/** The number of times that a wallet is asked for before the test gives up. */
const openingsMaximum = 10;

/** One wallet, everything that was asked of it, and the ids that it has given. */
interface PlayedWallet {
  walletId: string;
  readonly exchanges: Exchange[];
  readonly keyed: { readonly command: AnyCommand; readonly key: string }[];
  readonly holds: string[];
  readonly orders: string[];
  readonly debits: string[];
}

const emptyWallet = (): PlayedWallet => ({
  walletId: '',
  exchanges: [],
  keyed: [],
  holds: [],
  orders: [],
  debits: [],
});

/** The wallets of one customer, and everything that is asked of them. */
class ScenarioRun {
  customerId = '';
  readonly wallets: PlayedWallet[] = [];
  readonly debits: CustomerExchange[] = [];
  readonly #client: LedgerClient;
  readonly #scenario: Scenario;
  readonly #options: ScenarioOptions;
  #moment = 0;
  #sent = 0;

  constructor(client: LedgerClient, scenario: Scenario, options: ScenarioOptions) {
    this.#client = client;
    this.#scenario = scenario;
    this.#options = options;
  }

  /** Makes the customer and the wallets. */
  async open(): Promise<void> {
    const { name } = this.#options;
    const customer = await this.#client.send({
      route: 'POST /customers',
      path: '/customers',
      params: {},
      body: { external_id: name, name },
      requestId: `${name}-customer`,
      key: null,
    });
    this.customerId = customer.body.id;
    for (const terms of [this.#scenario, ...(this.#scenario.others ?? [])]) await this.#make(terms);
  }

  /** Makes a wallet: the first as usual, the others so that they may stand beside it. */
  async #make(terms: WalletTerms): Promise<void> {
    const { type, rate, topUpRate, initial, initialAhead, levels, auto, priority = null } = terms;
    const { name } = this.#options;
    const wallet = emptyWallet();
    const place = this.wallets.push(wallet);
    for (let attempt = 1; attempt <= openingsMaximum; attempt += 1) {
      const expiry = initial === '0' ? undefined : this.#expiry(initialAhead, attempt);
      const body: CreateBody = {
        customer_id: this.customerId,
        currency: scenarioCurrency,
        wallet_type: type,
        conversion_rate: rate,
        topup_conversion_rate: topUpRate,
        initial_credits_to_load: initial,
        ...(expiry === undefined ? {} : { initial_credits_expiry_date_utc: expiry }),
        ...(levels === null ? {} : { alert_settings: levels }),
        ...(auto === null ? {} : { auto_topup: auto }),
        ...(place > 1 ? { allow_multiple: true } : {}),
        ...(priority === null ? {} : { priority }),
      };
      const key = `${name}-create-${place}-${attempt}`;
      const answer = await this.#send(wallet, { kind: 'create', body }, key);
      wallet.walletId = answer?.body.id;
      if (wallet.walletId !== undefined) return;
      // On a slow machine the expiry may have passed on the way: then there is no wallet, and no story.
      wallet.exchanges.pop();
    }
    throw new Error(`no wallet could be opened for ${name}`);
  }

  async act({ plan, isKeyed, wallet: number = 0 }: Step): Promise<void> {
    const wallet = this.wallets[number % this.wallets.length] as PlayedWallet;
    const { walletId, keyed } = wallet;
    if (plan.kind === 'settle') {
      await this.#client.settle(walletId);
      return;
    }
    if (plan.kind === 'debit-customer') {
      await this.#debitCustomer(plan, isKeyed);
      return;
    }
    if (plan.kind === 'repeat') {
      if (number > 0 && this.debits.length > 0) await this.#repeatDebit(plan);
      const earlier = keyed.at(-1 - plan.back);
      if (!earlier) return;
      const command = plan.isChanged ? changed(earlier.command) : earlier.command;
      await this.#send(wallet, command, earlier.key);
      return;
    }
    const command = this.#commandOf(wallet, plan);
    const key =
      isKeyed && command.kind !== 'settings' && command.kind !== 'change-hold'
        ? `${this.#options.name}-${this.#sent}`
        : null;
    if (key !== null && command.kind !== 'bad') keyed.push({ command, key });
    await this.#send(wallet, command, key);
  }

  async #debitCustomer(
    { by, figure, isPartial, behind }: Extract<Plan, { kind: 'debit-customer' }>,
    isKeyed: boolean,
  ): Promise<void> {
    const body = {
      currency: scenarioCurrency,
      [by]: figure,
      ...partial({ isPartial }),
      ...this.#dated(behind),
    };
    const command = { kind: 'debit-customer', customer: this.customerId, body } as const;
    await this.#sendDebit(command, isKeyed ? `${this.#options.name}-${this.#sent}` : null);
  }

  async #repeatDebit({ back, isChanged }: Extract<Plan, { kind: 'repeat' }>): Promise<void> {
    const earlier = this.debits.filter(({ key }) => key !== null).at(-1 - back);
    if (!earlier) return;
    const { command, key } = earlier;
    const body = { ...command.body, description: 'changed' };
    await this.#sendDebit(isChanged ? { ...command, body } : command, key);
  }

  async #sendDebit(command: CustomerCommand, key: string | null): Promise<void> {
    const { answer } = await this.#ask(command, this.customerId, key, this.debits);
    for (const row of answer?.body.transactions ?? []) {
      const wallet = this.wallets.find(({ walletId }) => walletId === row.wallet_id);
      if (wallet && !wallet.debits.includes(row.id)) wallet.debits.push(row.id);
    }
  }

  /** Sends a request to a wallet and keeps it with its answer. */
  async #send(
    wallet: PlayedWallet,
    command: AnyCommand,
    key: string | null,
  ): Promise<Exchange['answer']> {
    const { walletId, exchanges, holds, debits, orders } = wallet;
    const { answer } = await this.#ask(command, walletId, key, exchanges);
    if (answer === null) return null;
    if (command.kind === 'hold' && answer.status === 201) {
      if (!holds.includes(answer.body.id)) holds.push(answer.body.id);
    }
    const entry = answer.body.wallet_transaction;
    if (entry?.type === 'debit' && !debits.includes(entry.id)) debits.push(entry.id);
    noteOrder(orders, answer.body);
    return answer;
  }

  /** Sends a request and puts it with its answer to the others. */
  async #ask<Asked extends AnyExchange['command']>(
    command: Asked,
    recordId: string,
    key: string | null,
    exchanges: Exchange<Asked>[],
  ): Promise<Exchange<Asked>> {
    const client = this.#client;
    this.#sent += 1;
    const requestId = `${this.#options.name}-${this.#sent}`;
    const [sent, sentAt] = [this.#next(), client.now()];
    const answer = await client.send({ ...wired(command, recordId), requestId, key });
    const [answered, answeredAt] = [this.#next(), client.nowAtMost()];
    const exchange = { requestId, command, key, sent, sentAt, answered, answeredAt, answer };
    exchanges.push(exchange);
    return exchange;
  }

  #next(): number {
    this.#moment += 1;
    return this.#moment;
  }

  /** An expiry in a request; it lies further ahead with each attempt, as a busy machine may need. */
  #expiry(ahead: number | null, attempt = 1): string | undefined {
    if (ahead === null) return undefined;
    const { unit = this.#scenario.unit, lead } = this.#options;
    return new Date(this.#client.now() + lead * attempt ** 2 + ahead * unit).toISOString();
  }

  #dated(behind: number | null): { readonly effective_at?: string } {
    if (behind === null) return {};
    const { unit = this.#scenario.unit } = this.#options;
    const time = this.#client.now() - behind * unit;
    return { effective_at: new Date(time).toISOString() };
  }

  #commandOf(
    { holds, debits, orders }: PlayedWallet,
    plan: Exclude<Plan, { kind: 'settle' | 'repeat' | 'debit-customer' }>,
  ): AnyCommand {
    switch (plan.kind) {
      case 'top-up': {
        const expiry = this.#expiry(plan.ahead);
        const body = {
          transaction_reason: plan.reason,
          [plan.by]: plan.by === 'amount' ? payable(plan.figure) : plan.figure,
          ...(expiry === undefined ? {} : { expiry_date_utc: expiry }),
          ...(plan.priority === null ? {} : { priority: plan.priority }),
          ...(plan.bonus === null || plan.reason === invoiced
            ? {}
            : { bonus_credits_to_add: plan.bonus }),
          ...(plan.reason === invoiced ? {} : this.#dated(plan.behind)),
        };
        return { kind: 'top-up', body };
      }
      case 'debit': {
        const { credits, description, behind } = plan;
        const more = { ...(description === null ? {} : { description }), ...this.#dated(behind) };
        return { kind: 'debit', body: { credits, ...partial(plan), ...more } };
      }
      case 'hold': {
        const expires_at = this.#expiry(plan.ahead);
        const { credits } = plan;
        return { kind: 'hold', body: { credits, ...(expires_at ? { expires_at } : {}) } };
      }
      case 'capture': {
        const body = {
          ...(plan.credits === null ? {} : { credits: plan.credits }),
          ...(plan.isLast ? {} : { final: false }),
        };
        const hold = holds.at(-1 - plan.back);
        return hold ? { kind: 'capture', hold, body } : { kind: 'debit', body: { credits: '1' } };
      }
      case 'change-hold': {
        const hold = holds.at(-1 - plan.back);
        const expires_at = this.#expiry(plan.ahead);
        const { credits } = plan;
        const body = {
          ...(credits === null ? {} : { credits }),
          ...(expires_at === undefined ? {} : { expires_at }),
        };
        return hold
          ? { kind: 'change-hold', hold, body }
          : { kind: 'hold', body: { credits: '2' } };
      }
      case 'void': {
        const hold = holds.at(-1 - plan.back);
        return hold ? { kind: 'void', hold } : { kind: 'hold', body: { credits: '1' } };
      }
      case 'reverse': {
        const entry = debits.at(-1 - plan.back);
        const expiry_date_utc = this.#expiry(plan.ahead);
        const { credits } = plan;
        const body = {
          ...(credits === null ? {} : { credits }),
          ...(expiry_date_utc === undefined ? {} : { expiry_date_utc }),
        };
        return entry ? { kind: 'reverse', entry, body } : { kind: 'debit', body: { credits: '1' } };
      }
      case 'complete':
      case 'cancel': {
        const order = orders.at(-1 - plan.back);
        return order ? { kind: plan.kind, order } : { kind: 'unfreeze' };
      }
      case 'auto':
        return { kind: 'settings', body: { auto_topup: plan.settings } };
      case 'alerts':
        return { kind: 'settings', body: { alert_settings: plan.levels } };
      case 'rename':
        return { kind: 'settings', body: { name: plan.name } };
      case 'priority':
        return { kind: 'settings', body: { priority: plan.priority } };
      case 'bulk': {
        const entries = plan.entries.map((entry) => this.#entryOf(entry));
        return { kind: 'bulk', body: { atomic: plan.atomic, entries } };
      }
      case 'bad':
        return badCommands[plan.which % badCommands.length] as AnyCommand;
      default:
        return { kind: plan.kind };
    }
  }

  #entryOf(plan: BulkPlan) {
    const { type, credits, behind } = plan;
    if (type === 'debit') return { type, credits, ...partial(plan), ...this.#dated(behind) };
    const expiry = this.#expiry(plan.ahead);
    return {
      type,
      credits,
      ...this.#dated(behind),
      ...(expiry === undefined ? {} : { expiry_date_utc: expiry }),
      ...(plan.priority === null ? {} : { priority: plan.priority }),
    };
  }
}

/** Orders are known by the answers: the one that was asked for, and one that the wallet made. */
function noteOrder(orders: string[], { wallet, wallet_transaction: entry, ...shown }: Data): void {
  const isPending = entry?.transaction_status === 'pending';
  const status = (wallet ?? shown).auto_topup_status;
  for (const id of [isPending ? entry.id : undefined, status?.pending_transaction_id]) {
    if (id !== undefined && !orders.includes(id)) orders.push(id);
  }
}

const partial = ({ isPartial = false }: { readonly isPartial?: boolean }) =>
  isPartial ? { allow_partial: true } : {};

/** A figure that can be paid in a currency of two digits. */
const payable = (figure: string): string => {
  const [whole, fraction = ''] = figure.split('.');
  const paid = `${whole}.${fraction.slice(0, 2)}`.replace(/\.?0*$/, '');
  return paid === '0' ? '0.01' : paid;
};

/**
 * Another request that fits the same key only by mistake; a request without a body stays as it is.
 */
function changed(command: AnyCommand): AnyCommand {
  switch (command.kind) {
    case 'top-up':
      return { ...command, body: { ...command.body, description: 'changed' } };
    case 'debit':
    case 'hold':
    case 'capture':
    case 'reverse':
      return { ...command, body: { ...command.body, credits: '77' } };
    case 'bulk':
      return { ...command, body: { ...command.body, atomic: !command.body.atomic } };
    default:
      return command;
  }
}
