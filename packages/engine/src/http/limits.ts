/** The limits of an HTTP server where `HttpOptions` gives none. */
export const httpDefaults = {
  bodyLimitBytes: 64 * 1024,
  rateLimit: { perSecond: 2_000 },
  requestTimeoutMs: 30_000,
  maximumInFlight: 4_000,
  unknownNames: 'refuse',
  corsOrigins: [],
  /** An eighth of what a process takes. */
  maximumPerTenant: 500,
  /** Two of the largest. Together, those of up to `bodyLimitBytes` are less than they. */
  bodyRoomBytes: 8 * 1024 * 1024,
  bodyPace: { everyMs: 5_000, bytes: 5 * 1024 },
} as const;

/** A tenant may make as many requests in a second as this number of API keys. */
export const keysAtFullRate = 2;

/** The share of a tenant in the time of the process: see `createTurns`. */
export const tenantTurns = {
  /** Nobody notices so short a wait, and a dozen ordinary requests go into it. */
  sliceMs: 2,
  /** 1,700 debits a second, which is more than one process carries out. */
  share: 0.1,
  presenceMs: 1_000,
} as const;

/** The structure that a JSON body may have, whatever its size; a route may allow more values. */
export const jsonLimits = {
  /** Levels of arrays and objects. */
  depth: 64,
  /** Members of one object. */
  members: 1_000,
  /** Items of one array. */
  items: 10_000,
  /** Members and items of the whole body: a bulk with all the metadata that it may have has 57,000. */
  values: 100_000,
  /** Numbers with an exponent or more than 15 characters: each is compared exactly, which costs. */
  longNumbers: 1_000,
} as const;
