import { takeCheckpoints } from '@counterfoil/cli/checkpoint';
import { eventually } from '../eventually.ts';
import type { Stack, TestTenant } from '../stack.ts';
import { type CatalogKind, catalogKinds, catalogRecords } from './catalog-records.ts';

type OtherKind =
  | 'tenant'
  | 'environment'
  | 'owner'
  | 'person'
  | 'service_account'
  | 'api_key'
  | 'customer'
  | 'external_id'
  | 'email'
  | 'wallet'
  | 'transaction'
  | 'request'
  | 'hold'
  | 'checkpoint'
  | 'webhook_endpoint'
  | 'webhook_message'
  | 'webhook_task'
  | 'event_subscription';

/** The kinds of records that a place of a request can name. */
export type Kind = OtherKind | CatalogKind;

const isOfCatalog = (kind: Kind): kind is CatalogKind =>
  (catalogKinds as readonly string[]).includes(kind);

/** Records that belong to a tenant as a whole: all its environments see them. */
export const kindsOfTenants: readonly Kind[] = [
  'tenant',
  'environment',
  'owner',
  'person',
  'service_account',
];

/** Any read will do: all tables are at one position, as long as none has stopped. */
const firstRead = '/customers?limit=1';

/**
 * Makes records for one key, each time a new one. All texts of a record contain the mark, so that
 * a test can tell whose it is wherever it turns up.
 */
export class Records {
  readonly tenant: TestTenant;
  readonly mark: string;
  readonly #stack: Stack;
  #made = 0;

  constructor(stack: Stack, tenant: TestTenant, mark: string) {
    this.#stack = stack;
    this.tenant = tenant;
    this.mark = mark;
  }

  /** A text that no other record has. */
  text(what: string): string {
    this.#made += 1;
    return `${this.mark}-${what}-${this.#made}`;
  }

  /** An e-mail address that no other record has. */
  email(): string {
    return `${this.text('mail')}@example.com`;
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

  async customer(): Promise<{ id: string; external_id: string; email: string }> {
    const external_id = this.text('customer');
    const metadata = { note: this.mark };
    const body = { external_id, name: external_id, email: this.email(), metadata };
    return this.create('/customers', body);
  }

  /** A wallet in dollars of a new customer, with ten credits. */
  async wallet(): Promise<string> {
    const { id } = await this.customer();
    const body = {
      customer_id: id,
      currency: 'usd',
      description: this.text('wallet'),
      initial_credits_to_load: '10',
    };
    return (await this.create('/wallets', body)).id;
  }

  /** The entry of a debit of a new wallet. */
  async transaction(): Promise<{ id: string; reference_id: string; wallet_id: string }> {
    const body = { credits: '1', description: this.text('debit') };
    const path = `/wallets/${await this.wallet()}/debit`;
    return (await this.create(path, body)).wallet_transaction;
  }

  /** A top-up of a new wallet that waits for its payment. */
  async order(): Promise<string> {
    const body = { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '3' };
    const path = `/wallets/${await this.wallet()}/top-up`;
    return (await this.create(path, body)).wallet_transaction.id;
  }

  /** Credits that are set aside in a new wallet. */
  async hold(): Promise<{ id: string; wallet_id: string }> {
    const body = { credits: '2', description: this.text('hold') };
    return this.create(`/wallets/${await this.wallet()}/holds`, body);
  }

  /** A signed checkpoint of the ledger, over a new wallet among others. */
  async checkpoint(): Promise<string> {
    await this.wallet();
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
    return id;
  }

  async endpoint(): Promise<string> {
    const url = `https://example.com/${this.text('hook')}`;
    return (await this.create('/webhooks/endpoints', { url, enabled: false })).id;
  }

  /** An endpoint whose filter nothing fits that these tests do: nothing is sent to it. */
  async enabledEndpoint(): Promise<string> {
    const url = `https://example.com/${this.text('hook')}`;
    const body = { url, event_types: ['credit_note.updated'] };
    return (await this.create('/webhooks/endpoints', body)).id;
  }

  /** A message that has come to the delivery worker. */
  async message(): Promise<string> {
    await this.endpoint();
    const { id } = await this.customer();
    let message: string | undefined;
    await eventually(
      async () => {
        const path = `/webhooks/messages?resource_id=${id}`;
        message = (await this.tenant.ok('GET', path)).items[0]?.id;
        return message !== undefined;
      },
      () => `the message about ${id} never came`,
    );
    return message ?? '';
  }

  async webhookTask(): Promise<string> {
    const path = `/webhooks/endpoints/${await this.enabledEndpoint()}/recover`;
    return (await this.create(path, { since: '2026-01-01T00:00:00Z' })).id;
  }

  async subscription(): Promise<string> {
    return (await this.create('/events/subscriptions', { name: this.text('reader') })).id;
  }

  async subscriptionWithCredentials(): Promise<string> {
    const id = await this.subscription();
    await this.create(`/events/subscriptions/${id}/credentials`, {});
    return id;
  }

  async apiKey(): Promise<string> {
    const body = { name: this.text('key'), type: 'private_key' };
    return (await this.create('/secrets/api/keys', body)).secret.id;
  }

  async environment(): Promise<string> {
    const body = { name: this.text('environment'), type: 'development' };
    return (await this.create('/environments', body)).id;
  }

  async person(): Promise<string> {
    const name = this.text('person');
    const body = { type: 'user', email: `${name}@example.com`, name };
    return (await this.create('/users', body)).id;
  }

  async serviceAccount(): Promise<string> {
    const name = this.text('account');
    const body = { type: 'service_account', name, roles: ['event_reader'] };
    return (await this.create('/users', body)).id;
  }

  /** Makes a new record of this kind and returns what names it. */
  async make(kind: Kind): Promise<string> {
    if (isOfCatalog(kind)) return catalogRecords[kind](this);
    switch (kind) {
      case 'tenant':
        return this.tenant.tenantId;
      case 'environment':
        return this.environment();
      case 'owner':
        return (await this.tenant.ok('GET', '/users/me')).id;
      case 'person':
        return this.person();
      case 'service_account':
        return this.serviceAccount();
      case 'api_key':
        return this.apiKey();
      case 'customer':
        return (await this.customer()).id;
      case 'external_id':
        return (await this.customer()).external_id;
      case 'email':
        return (await this.customer()).email;
      case 'wallet':
        return this.wallet();
      case 'transaction':
        return (await this.transaction()).id;
      case 'request':
        return (await this.transaction()).reference_id;
      case 'hold':
        return (await this.hold()).id;
      case 'checkpoint':
        return this.checkpoint();
      case 'webhook_endpoint':
        return this.endpoint();
      case 'webhook_message':
        return this.message();
      case 'webhook_task':
        return this.webhookTask();
      case 'event_subscription':
        return this.subscription();
      default:
        return kind satisfies never;
    }
  }
}
