type Environment = Readonly<Record<string, string | undefined>>;

/** Absolute path of the nats-server program, if there is one; see nats-server.mjs. */
export function findNatsServer(environment: Environment): string | undefined;

/** Returns where the bootstrap keeps its own copy of nats-server. */
export function cachedNatsServer(environment: Environment): string;
