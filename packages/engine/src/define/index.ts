export * from './context.ts';
export * from './due-work.ts';
export * from './listing.ts';
export * from './module.ts';
export * from './public-feed.ts';
export * from './publication.ts';
export * from './read-table.ts';
export * from './route.ts';
