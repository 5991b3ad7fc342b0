import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { ask, type PlaceOptions, withPlace } from '../api-options.ts';
import { OperatorError } from '../settings.ts';

const credentialsPath = '/usage/credentials';

interface IssueOptions extends PlaceOptions {
  readonly expiresAt?: string;
  readonly file?: string;
}

interface Issued {
  readonly id: string;
  readonly credentials: string;
}

interface Listed {
  readonly items: readonly {
    readonly id: string;
    readonly name: string;
    readonly key_id: string;
    readonly expires_at?: string;
    readonly subject: string;
  }[];
  readonly pagination: { readonly total: number };
}

/** Adds `usage credentials issue | list | revoke`: the access of systems that send usage over NATS. */
export function addCredentialsCommand(usage: Command, print: (line: string) => void): void {
  const credentials = usage
    .command('credentials')
    .description('credentials of systems that send usage over NATS');

  withPlace(credentials.command('issue'))
    .description('issue some for the key, and print them as JSON; they are shown here only')
    .argument('<name>', 'for people, such as that of the system')
    .option('--expires-at <instant>', 'RFC 3339; by default they end with the key')
    .option('--file <file>', 'write what is secret there, as a .creds file, and print the rest')
    .action(async (name: string, { expiresAt, file, ...place }: IssueOptions) => {
      const body = { name, ...(expiresAt === undefined ? {} : { expires_at: expiresAt }) };
      const issued = await ask<Issued>(place, 'POST', credentialsPath, body);
      print(JSON.stringify(file === undefined ? issued : withFile(issued, file)));
    });

  withPlace(credentials.command('list'))
    .description('print those of the environment, one on each line')
    .action(async (place: PlaceOptions) => {
      const { items } = await ask<Listed>(place, 'GET', `${credentialsPath}?limit=1000`);
      for (const { id, name, key_id, expires_at = 'never', subject } of items) {
        print([id, name, `key ${key_id}`, `expires ${expires_at}`, subject].join('  '));
      }
    });

  withPlace(credentials.command('revoke'))
    .description('end them for good, with all connections that use them')
    .argument('<id>')
    .action(async (id: string, place: PlaceOptions) => {
      await ask(place, 'DELETE', `${credentialsPath}/${encodeURIComponent(id)}`);
      print('Revoked.');
    });
}

/** Puts what is secret into a new file that nobody else can read; throws `OperatorError` where there is one. */
function withFile({ credentials, ...shown }: Issued, file: string): object {
  try {
    writeFileSync(file, credentials, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(
      `${file} was not written: ${reason}. Revoke ${shown.id}, and issue others.`,
    );
  }
  return { ...shown, file };
}
