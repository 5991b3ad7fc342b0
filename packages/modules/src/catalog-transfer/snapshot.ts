import type { AnyProjection, RequestContext } from '@counterfoil/engine/define';
import { type AnyAggregate, invalidOperation } from '@counterfoil/kernel';
import { type Offer, offer } from '../offers/index.ts';
import type { AnyRecord } from '../record/index.ts';
import { mapSections } from './entry.ts';
import { inTextOrder, Names, naturalKeys } from './keys.ts';
import { type Kind, kinds } from './kinds.ts';
import { type OfferKind, offerKinds } from './offer-kinds.ts';
import { type Section, sectionMaximum } from './schema.ts';

const pageRows = 1000;
const loadedAtOnce = 32;

/** The catalogue of an environment as the log has it, by section and key. */
export interface Snapshot {
  readonly records: Readonly<Record<Kind['section'], ReadonlyMap<string, AnyRecord>>>;
  readonly offers: Readonly<Record<OfferKind['section'], ReadonlyMap<string, Offer>>>;
}

/**
 * All published records. The read model names them, and the log has their contents. Throws 400 when
 * they are more than one document may hold.
 */
export async function catalogSnapshot(context: RequestContext): Promise<Snapshot> {
  const records = mapSections(() => new Map<string, AnyRecord>());
  for (const kind of kinds) {
    const found = await loadedRecords<AnyRecord>(context, kind.section, kind.table, kind.aggregate);
    const published = found.filter(({ status }) => status === 'published');
    const keys = naturalKeys(published.map((record) => calledBy(kind, kind.fieldsOf(record))));
    published.forEach((record, index) => {
      records[kind.section].set(keys[index] ?? '', record);
    });
  }
  const offers = { plans: new Map(), addons: new Map(), costsheets: new Map() };
  for (const { section, table } of offerKinds) {
    const found = await loadedRecords<Offer>(context, section, table, offer);
    const published = found.filter(({ root }) => root.record.status === 'published');
    const keys = naturalKeys(
      published.map(({ root: { record } }) => ({ unique: record.lookup_key, name: record.name })),
    );
    published.forEach((each, index) => {
      offers[section].set(keys[index] ?? '', each);
    });
  }
  return { records, offers };
}

/** Returns the name by which a file refers to an entry or a record. */
export function calledBy(
  { unique }: Pick<Kind, 'unique'>,
  fields: Readonly<Record<string, unknown>>,
) {
  const value = unique ? fields[unique.field] : null;
  const text = typeof value === 'string' && value !== '' ? value : null;
  return {
    unique: unique?.ignoresCase ? (text?.toLowerCase() ?? null) : text,
    name: typeof fields.name === 'string' ? fields.name : '',
  };
}

/** Keys and ids of the records that stand by themselves. */
export function namesOf({ records }: Snapshot) {
  const names = mapSections(() => new Names());
  for (const { section } of kinds) {
    for (const [key, { id }] of records[section]) names[section].add(key, id);
  }
  return names;
}

/** In the order of ids, which is that in which they were made. */
async function loadedRecords<State>(
  context: RequestContext,
  section: Section,
  table: AnyProjection,
  aggregate: AnyAggregate,
): Promise<readonly State[]> {
  const ids = (await publishedIds(context, section, table)).sort(inTextOrder);
  const loaded: State[] = [];
  for (let start = 0; start < ids.length; start += loadedAtOnce) {
    const some = ids.slice(start, start + loadedAtOnce);
    const states = await Promise.all(some.map((id) => context.load(aggregate, id)));
    for (const state of states) if (state !== null) loaded.push(state as State);
  }
  return loaded;
}

async function publishedIds(
  context: RequestContext,
  section: Section,
  table: AnyProjection,
): Promise<string[]> {
  const ids: string[] = [];
  for (let offset = 0; ; offset += pageRows) {
    const request = { limit: pageRows, offset, status: ['published'] };
    const { items, pagination } = await context.read.list(table, request);
    if (pagination.total > sectionMaximum) throw tooMany(section, pagination.total);
    for (const { id } of items as readonly { readonly id: string }[]) ids.push(id);
    if (items.length < pageRows) return ids;
  }
}

const tooMany = (section: Section, total: number) =>
  invalidOperation(
    `The environment has ${total} ${section}; a document holds at most ${sectionMaximum}.`,
    { reason: 'limit_reached', section, limit: sectionMaximum },
  );
