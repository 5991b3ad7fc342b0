export { plainUsage } from './plain-usage.ts';
export { type KnownByEvent, knownByEvent, reservedSums } from './queries.ts';
export { SharedReadings } from './shared-readings.ts';
export {
  LimitReached,
  type PlainUsage,
  PlainUsageUnclear,
  type ReservationPlace,
  type ReservedUsage,
  reservationId,
  reserveUsage,
  type UsageReservationEvent,
  type UsageReservedData,
  usageReservation,
} from './usage-reservation.ts';
