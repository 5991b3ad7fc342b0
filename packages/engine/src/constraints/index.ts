export * from './claims.ts';
export * from './lease.ts';
export * from './reservation.ts';
export * from './unique-change.ts';
