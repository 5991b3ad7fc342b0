/** A text that only the process now running under this pid has; see process-identity.mjs. */
export function processIdentity(pid: number): string | undefined;
