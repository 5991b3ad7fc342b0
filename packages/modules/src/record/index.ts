export type { AnyEvent, AnyRecord, CatalogueKind } from './catalogue.ts';
export { type EventsOf, lowerCase, type RecordOf, type StateOf } from './definition.ts';
export { accepted, containing, equalTo, oneOf, withMetadata } from './filters.ts';
export { foundById, foundByUnique, referredRecord, resourcesById } from './look-ups.ts';
export { publishedRecord, record } from './record.ts';
export { recordRoutes } from './routes.ts';
