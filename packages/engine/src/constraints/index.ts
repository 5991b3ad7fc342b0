export * from './changes.ts';
export * from './claims.ts';
export * from './reservation.ts';
