export * from './allowance.ts';
export * from './life.ts';
export * from './model.ts';
