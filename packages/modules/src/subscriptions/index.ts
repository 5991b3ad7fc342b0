export * from './settlement/index.ts';
