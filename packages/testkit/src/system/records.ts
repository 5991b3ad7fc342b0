import { takeCheckpoints } from '@counterfoil/cli/checkpoint';
import { isRead } from '../caller.ts';
import { eventually } from '../eventually.ts';
import type { SharedStack, TestTenant } from '../stack.ts';
import { addressOf, exampleRequest, makerOf, type RecordMaker } from './examples.ts';
import type { Operation } from './operations.ts';

/** Any read will do: all tables are at one position, as long as none has stopped. */
const firstRead = '/customers?limit=1';

/** A record as an answer shows it. */
type Shown = Readonly<Record<string, unknown>>;

/**
 * Makes records for one key, each time a new one, as the examples of the routes make them. All texts of
 * a record contain the mark, so that a test can tell whose it is wherever it turns up.
 */
export class Records {
  readonly tenant: TestTenant;
  readonly mark: string;
  readonly #stack: SharedStack;
  readonly #kept = new Map<string, Promise<Shown>>();
  #made = 0;

  constructor(stack: SharedStack, tenant: TestTenant, mark: string) {
    this.#stack = stack;
    this.tenant = tenant;
    this.mark = mark;
  }

  /** One record of each kind, for requests that only read. They are made when the first of these needs them. */
  readonly #shared: RecordMaker = {
    text: (sample) => this.text(sample),
    record: (kind) => {
      // The next one of its kind ends it, whoever needs that.
      if (kind === 'backfill') return this.record(kind);
      const made = this.#kept.get(kind) ?? this.record(kind);
      this.#kept.set(kind, made);
      return made;
    },
  };

  /** The records for an operation: those that all have together where it only reads. */
  makerFor({ method, path }: Pick<Operation, 'method' | 'path'>): RecordMaker {
    return isRead(method, path) ? this.#shared : this;
  }

  /** A text like the sample that no other record has. The mark stands after the last slash of an address. */
  text(sample: string): string {
    this.#made += 1;
    return sample.replace(/^(https:\/\/.*\/)?/, `$1${this.mark}-${this.#made}-`);
  }

  /**
   * Makes something and waits until reads show it, however slow the machine is. An ordinary read
   * waits only for a moment.
   */
  async create(path: string, body: unknown) {
    const made = await this.tenant.call('POST', path, body);
    if (made.status >= 300) throw new Error(`POST ${path} was answered ${made.text}`);
    const position = made.headers.get('counterfoil-position') ?? '0';
    const upTo = { 'counterfoil-min-position': position };
    await eventually(
      async () => (await this.tenant.call('GET', firstRead, undefined, upTo)).status === 200,
      () => `reads never came to position ${position}`,
    );
    return made.body;
  }

  /** A new record of a kind. */
  async record(kind: string): Promise<Shown> {
    switch (kind) {
      case 'tenant':
        return { id: this.tenant.tenantId };
      case 'env':
        return { id: this.tenant.environmentId };
      case 'owner':
        return this.tenant.ok('GET', '/users/me');
      case 'ckpt':
        return this.#checkpoint();
      case 'msg':
        return this.#message();
      case 'sandbox':
        return this.#sandbox();
      case 'clocked':
        return this.#clocked();
      case 'usage':
        return this.#usage();
      case 'subs_draft':
        return this.#draft();
      case 'subs_paused':
        return this.#paused();
      case 'inv_draft':
        return this.#invoiceDraft();
      case 'inv_void':
        return this.#voidInvoice();
      case 'inv_line':
        return this.#invoiceLine();
      case 'sold_line':
        return this.#soldLine();
      case 'pay_waiting':
        return this.#waitingPayment();
      case 'pay_charged':
        return this.#chargedPayment();
      case 'saved_method':
        return this.#savedMethod();
      case 'stripe_account':
        return this.#stripeAccount();
      case 'cn_draft':
        return this.#noteDraft();
      case 'coupon_assoc':
        return this.#redeemed();
      case 'sched':
        return this.#scheduled();
      case 'backfill':
        await this.#revertBackfills();
        return this.#example(kind);
      default:
        return this.#example(kind);
    }
  }

  /** A new record as its route's example makes it. */
  async #example(kind: string): Promise<Shown> {
    const { key, madeIn } = makerOf(kind);
    const request = await exampleRequest(this, key);
    const [, path = ''] = key.split(' ');
    const answer = await this.create(addressOf({ path }, request), request.body);
    return madeIn === undefined ? answer : answer[madeIn];
  }

  /** The id of a new record of a kind. */
  async make(kind: string): Promise<string> {
    return String((await this.record(kind)).id);
  }

  /** A signed checkpoint of the ledger, over a new wallet among others. */
  async #checkpoint(): Promise<Shown> {
    await this.record('wallet');
    const { eventStoreUrl, secretKey } = this.#stack;
    const ids: string[] = [];
    await takeCheckpoints(eventStoreUrl, secretKey, (line) => {
      const { environment_id, id } = JSON.parse(line);
      if (environment_id === this.tenant.environmentId) ids.push(id);
    });
    const id = ids[0] ?? '';
    await eventually(
      async () => (await this.tenant.call('GET', `/ledger/checkpoints/${id}`)).status === 200,
      () => `the checkpoint ${id} never came`,
    );
    return { id };
  }

  /** A development environment without a key. */
  #sandbox(): Promise<Shown> {
    return this.create('/environments', { name: this.text('Sandbox'), type: 'development' });
  }

  /** Such an environment with a test clock. */
  async #clocked(): Promise<Shown> {
    const made = await this.#sandbox();
    const now = '2026-01-31T09:00:00.000Z';
    await this.tenant.ok('PUT', `/environments/${made.id}/clock`, { now });
    return made;
  }

  /** Few backfills may be open at the same time. Returns when none of those that are seen is. */
  async #revertBackfills(): Promise<void> {
    const path = '/events/backfills?backfill_status=open';
    const { items } = (await this.tenant.call('GET', path)).body;
    let last = '0';
    for (const { id } of items) {
      const { headers } = await this.tenant.call('POST', `/events/backfills/${id}/revert`);
      last = headers.get('counterfoil-position') ?? last;
    }
    const upTo = { 'counterfoil-min-position': last };
    await eventually(
      async () => (await this.tenant.call('GET', path, undefined, upTo)).status === 200,
      () => `the backfills never came to position ${last}`,
    );
  }

  /** A draft of a subscription. */
  async #draft(): Promise<Shown> {
    const { entity_id: plan_id } = await this.record('price');
    const { id: customer_id } = await this.record('cust');
    return this.create('/subscriptions', {
      ...{ customer_id, plan_id, currency: 'usd', billing_period: 'MONTHLY' },
      subscription_status: 'draft',
      metadata: { note: this.text('draft') },
    });
  }

  /** A draft of an invoice of the caller's own. */
  async #invoiceDraft(): Promise<Shown> {
    const { id: customer_id } = await this.record('cust');
    return this.create('/invoices', {
      ...{ customer_id, currency: 'usd', subtotal: '30', total: '30', amount_due: '30' },
      invoice_status: 'DRAFT',
      description: this.text('draft'),
    });
  }

  /** The id of the opening invoice of a subscription, which is final. */
  async #openingInvoice(): Promise<string> {
    const { id } = await this.record('subs');
    const path = `/invoices?subscription_id=${id}&invoice_status=FINALIZED`;
    const found = async () => (await this.tenant.call('GET', path)).body.items?.[0];
    await eventually(
      async () => (await found()) !== undefined,
      () => `the invoice of ${id} never came`,
    );
    return (await found()).id;
  }

  /** The same, which is void. */
  async #voidInvoice(): Promise<Shown> {
    const { invoice } = await this.create(`/invoices/${await this.#openingInvoice()}/void`, {});
    return invoice;
  }

  /** A line of such an invoice, under a price that was sold. */
  async #soldLine(): Promise<Shown> {
    const { line_items } = await this.tenant.ok('GET', `/invoices/${await this.#openingInvoice()}`);
    const [line] = line_items as readonly Shown[];
    return line ?? {};
  }

  /** A line of an invoice that is final and not paid. */
  async #invoiceLine(): Promise<Shown> {
    const { line_items } = await this.record('inv');
    const [line] = line_items as readonly Shown[];
    return line ?? {};
  }

  /** A payment of an invoice that is only written down. */
  async #waitingPayment(): Promise<Shown> {
    const { id: destination_id } = await this.record('inv');
    return this.create('/payments', {
      ...{ destination_type: 'INVOICE', destination_id, payment_method_type: 'OFFLINE' },
      ...{ amount: '10', currency: 'usd', process_payment: false },
      metadata: { reference: this.text('transfer') },
    });
  }

  get #stripeKey(): string {
    return `sk_test_${this.tenant.environmentId.replaceAll(/[^A-Za-z0-9]/g, '')}`;
  }

  /** The account of the environment at Stripe. Its key names the tenant, so that each has books of its own. */
  #stripeAccount(): Promise<Shown> {
    const body = { secret_key: this.#stripeKey };
    return this.tenant.ok('PUT', '/payments/providers/stripe', body);
  }

  /** A card that a new customer has saved at Stripe. */
  async #savedMethod(customer_id?: string): Promise<Shown> {
    await this.#stripeAccount();
    const customer = customer_id ?? (await this.make('cust'));
    const path = `/payments/customers/${customer}/setup/intent`;
    await this.tenant.ok('POST', path, { success_url: 'https://example.com/saved' });
    const { body } = await this.tenant.call('GET', `/customers/${customer}`);
    const books = (await this.#stack.stripe.server()).booksOf(this.#stripeKey);
    const { id } = books.saveMethod(body.integrations[0].provider_entity_id);
    return { id, customer_id: customer };
  }

  /** A payment of an invoice that a card has made. */
  async #chargedPayment(): Promise<Shown> {
    const { id: destination_id, customer_id } = await this.record('inv');
    await this.#savedMethod(String(customer_id));
    return this.create('/payments', {
      ...{ destination_type: 'INVOICE', destination_id, payment_method_type: 'CARD' },
      ...{ amount: '10', currency: 'usd', metadata: { reference: this.text('card') } },
    });
  }

  /** A draft of a credit note. */
  async #noteDraft(): Promise<Shown> {
    const { id: invoice_line_item_id, invoice_id } = await this.record('inv_line');
    return this.create('/creditnotes', {
      ...{ invoice_id, process_credit_note: false, memo: this.text('draft') },
      line_items: [{ invoice_line_item_id, amount: '1' }],
    });
  }

  /** A coupon that a subscription has redeemed. */
  async #redeemed(): Promise<Shown> {
    const { entity_id: plan_id } = await this.record('price');
    const { id: customer_id } = await this.record('cust');
    const { id: coupon } = await this.record('coupon');
    const { coupon_associations } = await this.create('/subscriptions', {
      ...{ customer_id, plan_id, currency: 'usd', billing_period: 'MONTHLY' },
      coupons: [coupon],
      metadata: { note: this.text('redeemed') },
    });
    return coupon_associations[0];
  }

  /** A cancellation that is to come. */
  async #scheduled(): Promise<Shown> {
    const { id } = await this.record('subs');
    const body = { cancellation_type: 'end_of_period', reason: this.text('moved') };
    const { schedule_id } = await this.create(`/subscriptions/${id}/cancel`, body);
    return { id: schedule_id };
  }

  /** A subscription that is paused. */
  async #paused(): Promise<Shown> {
    const { id } = await this.record('subs');
    const body = { pause_mode: 'immediate', reason: this.text('away') };
    const { subscription } = await this.create(`/subscriptions/${id}/pause`, body);
    return subscription;
  }

  /** A usage event that is shown. Its id is its sender's own. */
  async #usage(): Promise<Shown> {
    const event_id = this.text('usage');
    const event = { event_name: this.text('tokens'), external_customer_id: 'acme', event_id };
    await this.create('/events', event);
    await eventually(
      async () => (await this.tenant.call('GET', `/events/${event_id}`)).status === 200,
      () => `the usage event ${event_id} never came`,
    );
    return { id: event_id };
  }

  /** A message that has come to the delivery worker. */
  async #message(): Promise<Shown> {
    const url = this.text('https://example.com/hooks');
    await this.create('/webhooks/endpoints', { url, enabled: false });
    const { id } = await this.record('cust');
    let message: Shown | undefined;
    await eventually(
      async () => {
        const path = `/webhooks/messages?resource_id=${id}`;
        message = (await this.tenant.ok('GET', path)).items[0];
        return message !== undefined;
      },
      () => `the message about ${id} never came`,
    );
    return message ?? {};
  }
}
