import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** A login at NATS with what it may do; everything else is denied to it. */
export interface NatsLogin {
  readonly user: string;
  readonly password: string;
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** JSON strings are strings in the server's format as well. */
const text = (value: string): string => JSON.stringify(value);
const list = (values: readonly string[]): string => `[${values.map(text).join(', ')}]`;

const entry = ({ user, password, publish, subscribe }: NatsLogin): string =>
  `    { user: ${text(user)}, password: ${text(password)}, permissions: {
      publish: { allow: ${list(publish)} }, subscribe: { allow: ${list(subscribe)} } } }`;

/**
 * The part of a nats-server configuration that says who may log in, to be included by the main
 * file. The service itself logs in as `service`, which may do everything.
 */
export const natsLogins = (servicePassword: string, logins: readonly NatsLogin[]): string =>
  `# Written by Counterfoil; changes are lost.
authorization {
  users: [
    { user: "service", password: ${text(servicePassword)} }
${logins.map(entry).join('\n')}
  ]
}
`;

/** Files that a running nats-server was told of. */
export interface NatsFiles {
  /** What the main configuration includes. */
  readonly loginsFile: string;
  readonly pidFile: string;
}

/**
 * Replaces the logins and lets the server read them, when it runs; one that does not will read
 * them when it starts. Sessions of logins that are gone are ended by the server.
 */
export function replaceNatsLogins({ loginsFile, pidFile }: NatsFiles, content: string): void {
  writeFileSync(`${loginsFile}.new`, content, { mode: 0o600 });
  renameSync(`${loginsFile}.new`, loginsFile);
  const pid = readPid(pidFile);
  if (pid !== null) signalReload(pid);
}

function readPid(file: string): number | null {
  try {
    const pid = Number(readFileSync(file, 'utf8').trim());
    return Number.isSafeInteger(pid) && pid > 1 ? pid : null;
  } catch {
    // There is no file before the first start.
    return null;
  }
}

function signalReload(pid: number): void {
  try {
    process.kill(pid, 'SIGHUP');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
