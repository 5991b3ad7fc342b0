import type { Kind, Records } from './records.ts';

/** The parts of a request that differ from operation to operation. */
export interface ExampleRequest {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/**
 * The place of a value in a request: `path.id`, `query.id`, `body.customer_id`,
 * `body.sort.0.field`.
 */
export type Place = `${'path' | 'query' | 'body'}.${string}`;

/** The knowledge that tests have of an operation beyond its documentation. */
export interface Example {
  /** A request that succeeds, each time on new records. */
  readonly request: (own: Records) => ExampleRequest | Promise<ExampleRequest>;
  /** Places that name a record; the operation answers 404 when there is no such record. */
  readonly names?: Readonly<Partial<Record<Place, Kind>>>;
  /** Places that a list or search is narrowed down by; what fits nothing finds nothing. */
  readonly filters?: Readonly<Partial<Record<Place, Kind>>>;
  /** Places that look like one of these and are not: what stands there is the caller's own text. */
  readonly texts?: readonly Place[];
}
