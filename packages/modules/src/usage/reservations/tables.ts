import type { FactTables } from '@counterfoil/engine/define';

/** The columns of the tables of reservations that readers see. */
export interface ReservationTables {
  /** Events that came by a reservation. */
  reserved_event: {
    readonly environment: number;
    readonly position: string;
    readonly number: number;
    readonly reservation: string;
    readonly quantity: string;
  };
  /** The sums of a reservation: what was counted of it, and what of that was voided. Neither ever falls. */
  reserved_usage: {
    readonly environment: number;
    readonly reservation: string;
    readonly counted: string;
    readonly voided: string;
  };
}

export const reservationRelations = ['reserved_event', 'reserved_usage'] as const;

/** The statements that make the tables of reservations. */
export const createReservationTables = (schema: string): readonly string[] => [
  `create table ${schema}.reserved_event (
     environment integer not null,
     position bigint not null,
     number integer not null,
     reservation text collate "C" not null,
     quantity numeric not null,
     primary key (environment, position, number))`,
  `create table ${schema}.reserved_usage (
     environment integer not null,
     reservation text collate "C" not null,
     counted numeric not null,
     voided numeric not null,
     primary key (environment, reservation))`,
];

/** The contents of these tables, without the numbers that one filling has given. */
export const comparedReservations = {
  reserved_event: (schema) =>
    `select environment_id, position, reserved_event.number, reservation, quantity
       from ${schema}.reserved_event
       join ${schema}.environment on environment.number = reserved_event.environment`,
  reserved_usage: (schema) =>
    `select environment_id, reservation, counted, voided
       from ${schema}.reserved_usage
       join ${schema}.environment on environment.number = reserved_usage.environment`,
} satisfies FactTables['compared'];
