import { type ApiInfo, type DescribedApi, type HttpOptions, once } from '@counterfoil/engine';
import { asyncApiDocument, eventTypesOf, publishedBodies } from '@counterfoil/modules';
import { accountFields } from './fields/accounts.ts';
import { catalogueFields } from './fields/catalogue.ts';
import { eventFields } from './fields/events.ts';
import { invoiceFields } from './fields/invoices.ts';
import { paymentFields } from './fields/payments.ts';
import { subscriptionFields } from './fields/subscriptions.ts';
import { taskFields } from './fields/tasks.ts';
import { usageFields } from './fields/usage.ts';
import { walletFields } from './fields/wallets.ts';
import { introduction, operatorIntroduction } from './introduction.ts';

/** The meaning of each tag of the API. */
const tags = {
  'API keys': 'Keys that act for a user in an environment',
  'Add-ons': 'Offers that a subscription takes in addition to its plan',
  Alerts: 'Alerts that were raised, and that ended',
  'Catalogue transfer': 'The catalogue as one document: export, preview, import',
  Connections: 'Ways to storages that lie outside, with their credentials',
  Costsheets: 'What usage costs the seller, by price',
  Coupons: 'Discounts by amount or percentage',
  'Credit grants': 'Credits that an offer gives, once or in every period',
  'Credit notes': 'What is given back, or not asked for, of invoices',
  Customers: 'Those who are billed',
  Documents: 'Invoices, credit notes and statements as people read and print them',
  Entitlements: 'The features that an offer includes, with their limits',
  Environments: 'Separate sets of records within a tenant, such as for tests',
  'Event subscriptions': 'Durable readers of the public events on NATS, with their credentials',
  Events: 'The public events in the order of the log, and the schemas of their bodies',
  Features: 'Functions that customers may use: switched, counted or configured',
  Groups: 'Names under which features or prices are shown together',
  Invoices: 'What customers owe, line by line, and what became of it',
  'Ledger checkpoints': 'Signed states of the log, for those who audit it',
  Meters: 'Rules that make a figure of usage events',
  Payments: 'Money that customers pay, and what became of it',
  Plans: 'Offers that customers subscribe to, with prices, entitlements and credit grants',
  Prices: 'Amounts per unit, package or tier, and quotes of them',
  'Pricing units': 'Own units of price, such as tokens, with a rate to a currency',
  Roles: 'Named sets of rights',
  'Scheduled tasks': 'Exports to a storage, window by window',
  Settings: 'What an environment does in its own way, such as the numbers of invoices',
  Subscriptions: 'Plans that customers have, their lines, periods and what was charged for them',
  Tasks: 'Imports of files, and the runs of exports',
  Taxes: 'Tax rates, and where they apply',
  Tenants: 'The organisation that the API key belongs to',
  Users: 'Persons and service accounts of the tenant',
  'Wallet audit':
    'The balance at any instant, the events of a wallet, and why an entry drew on what',
  'Wallet holds': 'Credits that are set aside until they are captured or given up',
  Usage: 'What customers used of what, and how much',
  Wallets: 'Credits of a customer: loads, debits, balances and entries',
  'Webhook deliveries': 'Messages to endpoints, attempts to deliver them, and repetitions',
  Webhooks: 'Endpoints that get events by HTTP: filters, order, rates and secrets',
  Workflows: 'Work that goes on in the background, and how far it is',
} as const;

/** Words of paths that are not the names of their records. */
const pathWords = {
  costs: 'costsheets',
  creditnotes: 'credit-notes',
  creditgrants: 'credit-grants',
  rbac: '',
  secrets: '',
} as const;

/** The description of the service as a whole in the OpenAPI document. */
export const apiInfo: ApiInfo = {
  title: 'Counterfoil',
  version: '1',
  description: introduction,
  tags,
  pathWords,
  fields: {
    ...accountFields,
    ...catalogueFields,
    ...walletFields,
    ...usageFields,
    ...eventFields,
    ...subscriptionFields,
    ...invoiceFields,
    ...paymentFields,
    ...taskFields,
  },
};

/** The slices of an API with what describes them and their events. */
export function describedApi(slices: HttpOptions['modules']): DescribedApi {
  const types = eventTypesOf(slices.flatMap(({ publicEvents }) => publicEvents));
  const published = once(() => publishedBodies(types));
  return {
    modules: slices,
    info: {
      ...apiInfo,
      get webhooks() {
        return published().bodies;
      },
      get schemas() {
        return published().schemas;
      },
    },
    documents: { '/asyncapi.json': () => asyncApiDocument(types, apiInfo.version) },
  };
}

/** The description of the operator API in its own OpenAPI document. */
export const operatorInfo: ApiInfo = {
  title: 'Counterfoil, operator API',
  version: '1',
  description: operatorIntroduction,
  tags: {
    Operator: 'Tenants, environments, users and keys of the whole installation',
  },
  pathWords,
  fields: { ...accountFields, type: 'A person or a service account' },
};
