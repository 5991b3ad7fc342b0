export type { MethodManner, Movement } from './books.ts';
export { faultsOf } from './check.ts';
export { published } from './declarations.ts';
export { type StripeFate, type StripeMessage, type StripeRequest, StripeServer } from './server.ts';
