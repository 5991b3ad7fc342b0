export * from './verify-chains.ts';
