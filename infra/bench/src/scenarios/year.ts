import type { Demo } from '@counterfoil/cli/settings';
import { api, inParallel, makeWallets } from '../api.ts';
import { keyOf, outcomes } from '../load/plan.ts';
import { spentPerThousand } from '../processor-time.ts';
import type { Figure } from '../report.ts';
import { advance, makeSandbox } from '../sandbox.ts';
import type { Scenario } from '../scenario.ts';
import { judge, untilVisible } from '../verdict.ts';
import {
  billingDays,
  creditsOf,
  day,
  expiryOf,
  monthStart,
  monthsOfYear,
  type Occasion,
  occasions,
  WalletBook,
} from '../year/books.ts';

const keys = 'bench-YEAR';
const clients = 64;
const pageMaximum = 1_000;
const faultsMaximum = 20;

/**
 * YEAR: a year on a test clock. Every wallet is loaded each month with credits that expire on its billing day in
 * the next one, debited each week and refunded each quarter. Each month all balances are held against books of the
 * benchmark's own.
 */
export const year: Scenario = {
  id: 'YEAR',
  title: 'a year of wallets on a test clock',
  run: async (world) => {
    const { demo, store, options, print } = world;
    const after = await store.head();
    const sandbox = await makeSandbox(demo, 'A year', textOf(monthStart(0) - day));
    const wallets = await makeWallets(sandbox, options.wallets, '0');
    print(`  ${wallets.length} wallets`);
    const running = new RunningYear(sandbox, wallets);
    const before = { time: world.processorTime(), own: process.cpuUsage() };
    const startedAt = performance.now();
    await running.run(print);
    const seconds = (performance.now() - startedAt) / 1_000;
    await untilVisible(store, sandbox);
    const verdict = await judge({ store, demo: sandbox }, after, {
      keys,
      outcomes: new Uint8Array(running.requests).fill(outcomes.acknowledged),
      entriesPerKey: 1,
    });
    const { advancing, effects, faults, requests } = running;
    const entries = requests + effects;
    const own = process.cpuUsage(before.own);
    return [
      {
        scenario: year.id,
        title: `${year.title}: ${wallets.length.toLocaleString('en-US')} of them`,
        clients: null,
        samples: [],
        answers: {},
        figures: [
          figure('the whole year', seconds, 's'),
          figure('of that in advances', advancing / 1_000, 's'),
          figure('requests', requests, ''),
          figure('due work that changed something', effects, ''),
        ],
        processorTime: {
          ...spentPerThousand(before.time, world.processorTime(), entries),
          'load generator': (own.user + own.system) / entries,
        },
        faults: [...faults, ...verdict.faults],
        checked: `${monthsOfYear + 1} times all balances as in the books, every expiry once; ${verdict.checked}`,
      },
    ];
  },
};

const figure = (name: string, value: number, unit: string): Figure => ({ name, value, unit });

const textOf = (milliseconds: number): string => new Date(milliseconds).toISOString();

interface WalletPage {
  readonly items: readonly { readonly id: string; readonly credit_balance: string }[];
}

/** The year under way, and what it has come to. */
class RunningYear {
  /** Milliseconds that advances took. */
  advancing = 0;
  effects = 0;
  requests = 0;
  readonly faults: string[] = [];
  readonly #demo: Demo;
  readonly #wallets: readonly string[];
  readonly #books: readonly WalletBook[];

  constructor(demo: Demo, wallets: readonly string[]) {
    this.#demo = demo;
    this.#wallets = wallets;
    this.#books = wallets.map((_, index) => new WalletBook(index));
  }

  async run(print: (line: string) => void): Promise<void> {
    for (const occasion of occasions) {
      await this.#advance(occasion.at);
      if (occasion.kind === 'load') {
        await this.#check(occasion.at);
        print(
          `  ${textOf(occasion.at).slice(0, 7)}: ${this.requests} requests, ${this.effects} effects`,
        );
      }
      await this.#meet(occasion);
    }
    const end = monthStart(monthsOfYear) + billingDays * day;
    await this.#advance(end);
    await this.#check(end);
    const expiries = this.#books.reduce((sum, book) => sum + book.expiries, 0);
    if (this.effects !== expiries) this.#fault(`${this.effects} effects, ${expiries} expiries`);
  }

  async #advance(at: number): Promise<void> {
    const { effects, milliseconds } = await advance(this.#demo, textOf(at));
    this.advancing += milliseconds;
    this.effects += effects;
  }

  /** Sends the request of an occasion to every wallet. */
  async #meet(occasion: Occasion): Promise<void> {
    const first = this.requests;
    this.requests += this.#wallets.length;
    await inParallel(clients, this.#wallets.length, async (index) => {
      const credits = String(creditsOf(occasion, index));
      const key = keyOf(keys, first + index);
      const path = `/wallets/${this.#wallets[index]}`;
      if (occasion.kind === 'debit') {
        await api(this.#demo, 'POST', `${path}/debit`, { credits }, key);
      } else {
        const expiry = expiryOf(occasion, index);
        const isRefund = occasion.kind === 'refund';
        const body = {
          credits_to_add: credits,
          transaction_reason: isRefund ? 'INVOICE_VOID_REFUND' : 'FREE_CREDIT_GRANT',
          ...(expiry === null ? {} : { expiry_date_utc: textOf(expiry) }),
        };
        await api(this.#demo, 'POST', `${path}/top-up`, body, key);
      }
      this.#books[index]?.take(occasion);
    });
  }

  /** Holds all balances against the books. */
  async #check(at: number): Promise<void> {
    for (let start = 0; start < this.#wallets.length; start += pageMaximum) {
      const wallet_ids = this.#wallets.slice(start, start + pageMaximum);
      const body = { wallet_ids, limit: pageMaximum };
      const page = await api<WalletPage>(this.#demo, 'POST', '/wallets/search', body);
      const shown = new Map(page.items.map(({ id, credit_balance }) => [id, credit_balance]));
      for (const [index, id] of wallet_ids.entries()) {
        const booked = String(this.#books[start + index]?.balance(at));
        if (shown.get(id) === booked) continue;
        this.#fault(`${id} has ${shown.get(id)} at ${textOf(at)}, the books ${booked}`);
      }
    }
  }

  #fault(sentence: string): void {
    if (this.faults.length < faultsMaximum) this.faults.push(sentence);
  }
}
