export type { AnyEvent, AnyRecord, CatalogueKind } from './catalogue.ts';
export type { EventsOf, RecordOf, StateOf } from './definition.ts';
export { containing, equalTo, oneOf } from './filters.ts';
export { lowerCase, publishedRecord, record } from './record.ts';
export { recordRoutes } from './routes.ts';
