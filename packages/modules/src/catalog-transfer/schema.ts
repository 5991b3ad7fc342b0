import { recordStampsShape, recordStatusSchema } from '@counterfoil/kernel';
import { z } from 'zod';

/** The format of the document; another one is refused. */
export const documentVersion = 1;

/** Parts of a document, those first that others refer to. */
export const simpleSections = [
  'groups',
  'meters',
  'pricing_units',
  'features',
  'coupons',
  'tax_rates',
] as const;
export type SimpleSection = (typeof simpleSections)[number];
export const offerSections = ['plans', 'addons', 'costsheets'] as const;
export type OfferSection = (typeof offerSections)[number];
export const sections = [...simpleSections, ...offerSections] as const;
export type Section = (typeof sections)[number];

/** Records of each section, at most: in a document and in an environment. */
export const sectionMaximum = 2000;

/** The member of an entry whose record is out of use and still used, such as a meter: true. */
export const disabledMember = 'disabled';

/** A record without ids, stamps and empty fields. Its fields are those of its own slice. */
const entrySchema = z.record(z.string().max(64), z.unknown()).meta({ id: 'CatalogEntry' });
export type Entry = Readonly<z.output<typeof entrySchema>>;

const entriesSchema = z
  .array(entrySchema)
  .max(sectionMaximum)
  .meta({ id: 'CatalogSection', description: 'Records of one kind' })
  .optional();

/** The catalogue of an environment as one document without ids. A section may be left out. */
export const documentSchema = z
  .strictObject({
    version: z.literal(documentVersion),
    groups: entriesSchema,
    meters: entriesSchema,
    pricing_units: entriesSchema,
    features: entriesSchema,
    coupons: entriesSchema,
    tax_rates: entriesSchema,
    plans: entriesSchema,
    addons: entriesSchema,
    costsheets: entriesSchema,
  })
  .meta({ id: 'CatalogDocument' });
export type CatalogDocument = z.output<typeof documentSchema>;

export const importSchema = z
  .object({
    document: documentSchema,
    dry_run: z.boolean().default(false).meta({ description: 'Only say what would change' }),
    prune: z.boolean().default(false).meta({
      description: 'Whether given sections archive what they do not name',
    }),
  })
  .meta({ id: 'CatalogImportRequest' });
export type ImportRequest = z.output<typeof importSchema>;

/** The change of one record of the catalogue. */
export const changeSchema = z
  .object({
    section: z.enum(sections),
    key: z.string(),
    action: z.enum(['created', 'updated', 'archived']),
    details: z.array(z.string()).meta({ description: 'Fields, and records that it owns' }),
  })
  .meta({ id: 'CatalogChange' });
export type Change = z.output<typeof changeSchema>;

export const refusedSchema = z
  .object({ id: z.string(), message: z.string() })
  .meta({ id: 'CatalogRefusal' });

/** The result of an import, done or only proposed. */
export const importResultSchema = z
  .object({
    id: z.string().optional().meta({ description: 'Absent when nothing was written' }),
    dry_run: z.boolean(),
    changes: z.array(changeSchema),
    unchanged: z.number().int(),
    refused: z
      .array(refusedSchema)
      .meta({ description: 'Records that changed in the same moment' }),
  })
  .meta({ id: 'CatalogImportResult' });
export type ImportResult = z.output<typeof importResultSchema>;

/** An import on the wire. */
export const catalogImportSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    import_status: z.enum(['applying', 'finished']),
    changes: z.array(changeSchema),
    unchanged: z.number().int(),
    refused: z.array(refusedSchema),
  })
  .meta({ id: 'CatalogImport' });
export type CatalogImport = z.output<typeof catalogImportSchema>;
