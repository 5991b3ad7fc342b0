import {
  categoryPrefix,
  createStreams,
  type EventStore,
  type FactReads,
  FactsBesideTaken,
  openEventStore,
  parseStreamName,
  ReadStreams,
  type StoredEvent,
  UnreadableEvent,
  withFactsBeside,
  workContext,
} from '@counterfoil/engine';

import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import {
  invoice,
  modules,
  type ProvenInvoice,
  proveInvoice,
  usageTables,
} from '@counterfoil/modules';
import { OperatorError, type ServerUrls } from './settings.ts';

type Print = (line: string) => void;

/** Invoices after which progress is told. */
const told = 1_000;
/** Findings that are printed: more say nothing new. */
const findingsMaximum = 1_000;
/** Streams that are kept folded. */
const idleStreams = 1_000;

/** The number of final invoices of a log, and of those that differ. */
interface Found {
  invoices: number;
  differing: number;
}

/**
 * `counterfoil verify --invoices`: computes every final invoice again from the log, as it was, with usage that is counted again from the
 * log too, and prints each figure that comes out otherwise. True when none does. Everything may keep running.
 */
export async function verifyInvoices(urls: ServerUrls, print: Print): Promise<boolean> {
  const store = openEventStore({ url: urls.eventStoreUrl });
  try {
    const upTo = await store.head();
    const options = {
      ...{ store, database: urls.databaseUrl, tables: usageTables, upTo },
      onProgress: (position: bigint) =>
        print(`usage is counted from the log, up to position ${position} of ${upTo}`),
    };
    const found = await withFactsBeside(options, (facts) => check({ store, facts, upTo, print }));
    const { invoices, differing } = found;
    print(`invoices: ${invoices} computed again, ${differing} differ, up to position ${upTo}`);
    return differing === 0;
  } catch (error) {
    if (error instanceof FactsBesideTaken) throw new OperatorError(error.message);
    if (!(error instanceof UnreadableEvent)) throw error;
    print(`event ${error.stream}@${error.revision}: ${error.message}`);
    print('Not all invoices were computed again, because the log cannot be read to its end.');
    return false;
  } finally {
    await store.close();
  }
}

interface Checking {
  readonly store: EventStore;
  readonly facts: FactReads;
  readonly upTo: bigint;
  readonly print: Print;
}

/** Takes invoices in the order in which they were made final, one after the other. */
async function check({ store, facts, upTo, print }: Checking): Promise<Found> {
  const aggregates = modules({ secrets: null }).flatMap((slice) => slice.aggregates);
  const streams = createStreams({ store, aggregates, idleStreams });
  const read = new ReadStreams();
  const found: Found = { invoices: 0, differing: 0 };
  const prefixes = [categoryPrefix(invoice.name)];
  for await (const event of store.readLog({ prefixes, after: 0n, upTo })) {
    const place = finalIn(event);
    if (place === null) continue;
    const { id, ...scope } = place;
    const context = workContext(
      streams,
      { ...scope, correlationId: 'verify' },
      { factsOf: () => facts },
    );
    const proven = await provenOrUnreadable(id, proveInvoice(context, id, read));
    found.invoices += 1;
    if (isWrong(proven)) {
      found.differing += 1;
      if (found.differing <= findingsMaximum) for (const line of findings(proven)) print(line);
    }
    if (found.invoices % told === 0) {
      print(`${found.invoices} invoices computed again, ${found.differing} differ`);
    }
  }
  return found;
}

/** An event that cannot be read is a finding about the invoice that needs it, and about no other. */
async function provenOrUnreadable(
  invoice_id: string,
  proving: Promise<ProvenInvoice>,
): Promise<ProvenInvoice> {
  try {
    return await proving;
  } catch (error) {
    if (!(error instanceof UnreadableEvent)) throw error;
    return { invoice_id, invoice_number: null, differences: [], problem: error.message };
  }
}

interface FinalPlace {
  readonly id: string;
  readonly tenantId: TenantId;
  readonly environmentId: EnvironmentId;
}

/** The invoice that an event has made final, or skipped; null for any other event. */
function finalIn({ stream, type, metadata }: StoredEvent): FinalPlace | null {
  if (type !== 'InvoiceFinalized' && type !== 'InvoiceSkipped') return null;
  const parts = parseStreamName(stream);
  if (parts?.category !== invoice.name) return null;
  return {
    id: parts.id,
    tenantId: metadata.tenant_id as TenantId,
    environmentId: parts.scope as EnvironmentId,
  };
}

const isWrong = ({ differences, problem }: ProvenInvoice): boolean =>
  differences.length > 0 || problem !== null;

const shown = (value: string | null): string => value ?? 'nothing';

/** A line for each figure of an invoice that comes out otherwise. */
function findings({ invoice_id, invoice_number, differences, problem }: ProvenInvoice): string[] {
  const name = invoice_number === null ? invoice_id : `${invoice_number} (${invoice_id})`;
  if (problem !== null) return [`invoice ${name}: it cannot be computed again: ${problem}`];
  return differences.map(({ line_id, display_name, figure, expected, found }) => {
    const what = line_id === null ? figure : `line ${line_id} (${display_name}) ${figure}`;
    return `invoice ${name} ${what}: the log says ${shown(expected)}, the invoice ${shown(found)}`;
  });
}
