export { explain } from './explain.ts';
export * from './run-service.ts';
