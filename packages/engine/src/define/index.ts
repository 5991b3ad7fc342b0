export { arrayText } from '../intake/array-text.ts';
export { copyLine } from '../intake/copy-line.ts';
export { contentsBytesMaximum } from '../log/annex.ts';
export * from './as-of.ts';
export * from './asking-context.ts';
export * from './clock.ts';
export * from './context.ts';
export * from './due-work.ts';
export * from './event-broker.ts';
export * from './event-gateway.ts';
export * from './expansion.ts';
export * from './fact-work.ts';
export * from './file-store.ts';
export * from './intake.ts';
export * from './listed.ts';
export * from './listing.ts';
export { messagePosition } from './message-id.ts';
export * from './module.ts';
export * from './part.ts';
export * from './projection.ts';
export * from './public-event.ts';
export * from './public-feed.ts';
export * from './quota.ts';
export * from './reaction.ts';
export * from './request-context.ts';
export * from './route.ts';
export * from './route-example.ts';
export * from './streamed-reads.ts';
export {
  environmentSubjects,
  livePrefix,
  parsePublicSubject,
  publicStream,
  publicSubject,
  publicSubjects,
  sendingSubject,
} from './subject.ts';
export * from './tables.ts';
export { unused } from './unused.ts';
export * from './work-context.ts';
