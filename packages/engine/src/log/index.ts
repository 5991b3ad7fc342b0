export { type EventStoreOptions, openEventStore } from './event-store.ts';
export { UnreadableEvent } from './incoming-event.ts';
export type { StoreMetric } from './store-metric.ts';
