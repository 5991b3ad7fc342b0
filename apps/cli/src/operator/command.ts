import { type Command, InvalidArgumentError } from 'commander';
import { type ApiPlace, bodyOf, callApi } from '../http-api.ts';
import { OperatorError, readDemo, readSettings, secretKeyOf } from '../settings.ts';

type Print = (line: string) => void;

/** Adds `tenants`, `environments`, `users` and `keys` to the program: clients of the operator API. */
export function addOperatorCommands(program: Command, print: Print): void {
  addTenants(program, print);
  addEnvironments(program, print);
  addUsers(program, print);
  addKeys(program, print);
}

interface OfTenant {
  readonly tenant: string;
}

interface OfEnvironment extends OfTenant {
  readonly environment: string;
}

function addTenants(program: Command, print: Print): void {
  const tenants = program.command('tenants').description('make and list tenants, as the operator');
  tenants
    .command('create')
    .description('make a tenant, which has no environment, user or key yet')
    .requiredOption('--name <name>')
    .action(async ({ name }: { readonly name: string }) =>
      show(print, await post('/tenants', { name })),
    );
  tenants
    .command('list')
    .description('print all tenants, one line of JSON each')
    .action(() => list(print, '/tenants', 'items'));
}

function addEnvironments(program: Command, print: Print): void {
  const environments = program
    .command('environments')
    .description('make and list environments of a tenant, as the operator');
  environments
    .command('create')
    .description('make an environment')
    .requiredOption('--tenant <id>')
    .requiredOption('--name <name>')
    .requiredOption('--type <type>', 'production or development')
    .option('--timezone <zone>', 'IANA name, for customers that have none of their own')
    .action(async ({ tenant, ...body }: OfTenant & Record<string, string>) =>
      show(print, await post(pathOf`/tenants/${tenant}/environments`, body)),
    );
  environments
    .command('list')
    .description('print the environments of a tenant, one line of JSON each')
    .requiredOption('--tenant <id>')
    .action(({ tenant }: OfTenant) =>
      list(print, pathOf`/tenants/${tenant}/environments`, 'environments'),
    );
}

interface NewUser extends OfTenant {
  readonly email?: string;
  readonly name?: string;
  readonly role: readonly string[];
  readonly serviceAccount: boolean;
}

function addUsers(program: Command, print: Print): void {
  const users = program
    .command('users')
    .description('make and list users of a tenant, as the operator');
  users
    .command('create')
    .description('make a person, or a service account')
    .requiredOption('--tenant <id>')
    .option('--email <address>', 'required for a person')
    .option('--name <name>')
    .option('--role <role>', 'may be repeated', collected, [])
    .option('--service-account', 'a program of the tenant instead of a person', false)
    .action(async ({ tenant, serviceAccount, role, ...body }: NewUser) => {
      const type = serviceAccount ? 'service_account' : 'user';
      const path = pathOf`/tenants/${tenant}/users`;
      show(print, await post(path, { ...body, type, roles: role }));
    });
  users
    .command('list')
    .description('print the users of a tenant, one line of JSON each')
    .requiredOption('--tenant <id>')
    .action(({ tenant }: OfTenant) => list(print, pathOf`/tenants/${tenant}/users`, 'items'));
}

interface NewKey extends OfEnvironment {
  readonly user: string;
  readonly name: string;
  readonly expiresAt?: string;
}

function addKeys(program: Command, print: Print): void {
  const keys = program
    .command('keys')
    .description('make, list and revoke API keys, as the operator');
  inEnvironment(keys.command('create'))
    .description('make a key of a user; it is shown this once')
    .requiredOption('--user <id>')
    .requiredOption('--name <name>')
    .option('--expires-at <time>', 'RFC 3339; by default the key does not expire')
    .action(async ({ user, name, expiresAt, ...place }: NewKey) => {
      const body = { user_id: user, name, expires_at: expiresAt };
      const issued = (await post(keysOf(place), body)) as IssuedKey;
      print(JSON.stringify({ id: issued.secret.id, api_key: issued.api_key }));
    });
  inEnvironment(keys.command('list'))
    .description('print the keys of an environment, masked, one line of JSON each')
    .action((place: OfEnvironment) => list(print, keysOf(place), 'items'));
  inEnvironment(keys.command('revoke').argument('<key id>'))
    .description('end a key for good, in every process at once')
    .action(async (id: string, place: OfEnvironment) => {
      bodyOf(await callApi(operatorPlace(), 'DELETE', `${keysOf(place)}${pathOf`/${id}`}`));
      print('Revoked.');
    });
  keys
    .command('public')
    .description('print the public key that signed checkpoints are checked with')
    .action(async () => {
      const { publicKeyOf } = await import('../checkpoint.ts');
      print(publicKeyOf(secretKeyOf(readSettings())));
    });
}

interface IssuedKey {
  readonly secret: { readonly id: string };
  readonly api_key: string;
}

const inEnvironment = (command: Command): Command =>
  command.requiredOption('--tenant <id>').requiredOption('--environment <id>');

const keysOf = ({ tenant, environment }: OfEnvironment): string =>
  pathOf`/tenants/${tenant}/environments/${environment}/keys`;

/** A path with the ids that the command line names, which must be no more than one segment each. */
function pathOf(texts: TemplateStringsArray, ...ids: readonly string[]): string {
  for (const id of ids) if (!/^\w+$/.test(id)) throw new OperatorError(`"${id}" is no id.`);
  return String.raw({ raw: texts }, ...ids);
}

function collected(value: string, before: readonly string[]): readonly string[] {
  if (value === '') throw new InvalidArgumentError('It must not be empty.');
  return [...before, value];
}

/** The operator API that the settings name, else that of the running local installation. */
function operatorPlace(): ApiPlace {
  const settings = readSettings();
  const demo = readDemo(settings.COUNTERFOIL_DATA);
  const baseUrl = settings.OPERATOR_URL ?? demo?.operator_url;
  const apiKey = settings.OPERATOR_KEY ?? demo?.operator_key;
  if (baseUrl && apiKey) return { baseUrl, apiKey };
  throw new OperatorError(
    `There is no running installation in ${settings.COUNTERFOIL_DATA}. ` +
      'Start one with npm start, or set OPERATOR_URL and OPERATOR_KEY.',
  );
}

const post = async (path: string, body: unknown): Promise<unknown> =>
  bodyOf(await callApi(operatorPlace(), 'POST', path, { body }));

const show = (print: Print, record: unknown): void => print(JSON.stringify(record));

const pageSize = 1_000;

/** Prints every item of a list, page by page. `member` holds the items of a page. */
async function list(print: Print, path: string, member: string): Promise<void> {
  for (let offset = 0; ; offset += pageSize) {
    const address = `${path}?limit=${pageSize}&offset=${offset}`;
    const page = bodyOf(await callApi(operatorPlace(), 'GET', address)) as Record<
      string,
      unknown[]
    >;
    const items = page[member] ?? [];
    for (const item of items) show(print, item);
    if (items.length < pageSize) return;
  }
}
