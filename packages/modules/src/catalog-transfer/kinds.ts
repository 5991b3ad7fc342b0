import { invariant } from '@counterfoil/kernel';
import { couponRecords } from '../coupons/index.ts';
import { featureRecords } from '../features/index.ts';
import { groupRecords } from '../groups/index.ts';
import { meterRecords } from '../meters/index.ts';
import { priceUnitRecords } from '../pricing-units/index.ts';
import type { CatalogueKind } from '../record/index.ts';
import { taxRateRecords } from '../taxes/index.ts';
import { type Entry, type SimpleSection, simpleSections } from './schema.ts';

/** A field in which an entry names a record of another section by its key. */
export interface Reference {
  readonly section: SimpleSection;
  /** The record's own name of the field. */
  readonly field: string;
}

/** The records of one section as entries of a document, as their slice declares them. */
export interface Kind extends Omit<CatalogueKind, 'references'> {
  readonly section: SimpleSection;
  readonly references: Readonly<Record<string, Reference>>;
  /** True for records that others go on using when they are out of use. */
  readonly isUsedAfterwards: boolean;
}

const bySection: Readonly<Record<SimpleSection, CatalogueKind>> = {
  groups: groupRecords.catalogue,
  meters: meterRecords.catalogue,
  pricing_units: priceUnitRecords.catalogue,
  features: featureRecords.catalogue,
  coupons: couponRecords.catalogue,
  tax_rates: taxRateRecords.catalogue,
};

function sectionOf(category: string): SimpleSection {
  const section = simpleSections.find((each) => bySection[each].aggregate.name === category);
  invariant(section, `no section of a document has records of ${category}`);
  return section;
}

/** The kinds of records that stand by themselves, those first that others refer to. */
export const kinds: readonly Kind[] = simpleSections.map((section) => {
  const kind = bySection[section];
  const references = Object.entries(kind.references).map(([name, { field, to }]) => {
    return [name, { field, section: sectionOf(to) }] as const;
  });
  const isUsedAfterwards = section === 'meters';
  return { ...kind, section, references: Object.fromEntries(references), isUsedAfterwards };
});

/** The fields of a record that stand in an entry; null where there is nothing. */
export const only = (fields: object, names: readonly string[]): Entry => {
  const known = fields as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.map((name) => [name, known[name] ?? null]));
};
