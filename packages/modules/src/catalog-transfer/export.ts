import type { Instant } from '@counterfoil/kernel';
import { entryOf } from './entry.ts';
import { inTextOrder } from './keys.ts';
import { kinds } from './kinds.ts';
import { offerEntry } from './offer-entries.ts';
import { offerKinds } from './offer-kinds.ts';
import {
  type CatalogDocument,
  disabledMember,
  documentVersion,
  type Entry,
  type Section,
} from './schema.ts';
import { isPublished, namesOf, type Snapshot } from './snapshot.ts';

/**
 * The catalogue as one document. Two environments with the same catalogue give the same document, in
 * the same order, whenever it was made and whatever the ids are.
 */
export function exportedDocument(snapshot: Snapshot, at: Instant): CatalogDocument {
  const names = namesOf(snapshot);
  const parts: [Section, readonly Entry[]][] = [
    ...kinds.map(({ section, references, fieldsOf }): [Section, readonly Entry[]] => [
      section,
      inKeyOrder(snapshot.records[section]).map((each) => ({
        ...entryOf(fieldsOf(each), references, names),
        ...(isPublished(each) ? {} : { [disabledMember]: true }),
      })),
    ]),
    ...offerKinds.map(({ section, fields }): [Section, readonly Entry[]] => [
      section,
      inKeyOrder(snapshot.offers[section]).map((each) => offerEntry(each, fields, { names, at })),
    ]),
  ];
  return { version: documentVersion, ...Object.fromEntries(parts) };
}

const inKeyOrder = <Item>(items: ReadonlyMap<string, Item>): readonly Item[] =>
  [...items].sort(([left], [right]) => inTextOrder(left, right)).map(([, item]) => item);
