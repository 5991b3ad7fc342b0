export * from './due-work.ts';
