export * from './call-route.ts';
export * from './given.ts';
export * from './memory-store.ts';
export * from './memory-world.ts';
export * from './pointers.ts';
export * from './principal.ts';
export * from './published.ts';
export * from './react-to.ts';
