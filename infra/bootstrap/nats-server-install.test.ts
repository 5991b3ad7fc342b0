import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cachedNatsServer, findNatsServer } from './nats-server.mjs';
import { obtainNatsServer } from './nats-server-install.mjs';

interface Machine {
  readonly folder: string;
  readonly environment: Record<string, string>;
  readonly calls: () => string[];
}

const SERVER_SCRIPT = '#!/bin/sh\necho nats-server: v2.10.0\n';

/** A machine whose only programs are the given shell scripts, besides the ordinary tools. */
function machineWith(programs: Record<string, string>): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-bootstrap-'));
  const programFolder = join(folder, 'programs');
  mkdirSync(programFolder);
  const log = join(folder, 'calls');
  writeFileSync(log, '');
  writeFileSync(join(folder, 'server'), SERVER_SCRIPT);
  for (const [name, script] of Object.entries(programs)) {
    const text = `#!/bin/sh\necho "${name} $*" >> "${log}"\nserver="${folder}/server"\n${script}\n`;
    writeFileSync(join(programFolder, name), text, { mode: 0o755 });
  }
  return {
    folder,
    environment: { PATH: programFolder, HOME: join(folder, 'home') },
    calls: () => readFileSync(log, 'utf8').split('\n').filter(Boolean),
  };
}

const UNPACK = '/bin/mkdir -p unpacked/usr/sbin && /bin/cp "$server" unpacked/usr/sbin/nats-server';
const test = suite('obtaining nats-server');
let machine: Machine;

test.after.each(() => rmSync(machine.folder, { recursive: true, force: true }));

test('unpacks the package of the distribution into the cache of the user', async () => {
  machine = machineWith({
    'apt-get': 'case "$*" in *download*) echo package > nats-server_2.deb;; esac',
    'dpkg-deb': UNPACK,
  });
  await obtainNatsServer(machine.environment, () => undefined);
  const program = cachedNatsServer(machine.environment);
  assert.is(readFileSync(program, 'utf8'), SERVER_SCRIPT);
  assert.is(machine.calls().filter((call) => call.startsWith('apt-get')).length, 1);
});

test('renews the package lists in a folder of its own when the lists of the machine fail', async () => {
  machine = machineWith({
    'apt-get': `case "$*" in
      *Dir::State=*download*) echo package > nats-server_2.deb;;
      *Dir::State=*update*) exit 0;;
      *) echo "E: Unable to locate package" >&2; exit 100;;
    esac`,
    'dpkg-deb': UNPACK,
  });
  await obtainNatsServer(machine.environment, () => undefined);
  assert.ok(existsSync(cachedNatsServer(machine.environment)));
  assert.is(machine.calls().filter((call) => call.startsWith('apt-get')).length, 3);
});

test('copies the program out of the Docker image when apt-get has none, and removes the container', async () => {
  if (process.platform !== 'linux') return;
  machine = machineWith({
    'apt-get': 'exit 100',
    docker: 'case "$1" in cp) /bin/cp "$server" "$3";; esac',
  });
  await obtainNatsServer(machine.environment, () => undefined);
  assert.ok(existsSync(cachedNatsServer(machine.environment)));
  const docker = machine.calls().filter((call) => call.startsWith('docker'));
  assert.equal(
    docker.map((call) => call.split(' ')[1]),
    ['create', 'cp', 'rm'],
  );
});

test('never keeps a program that does not run', async () => {
  machine = machineWith({
    'apt-get': 'case "$*" in *download*) echo package > nats-server_2.deb;; esac',
    'dpkg-deb': `${UNPACK} && echo "exit 1" > unpacked/usr/sbin/nats-server`,
  });
  await assertRejects(
    obtainNatsServer(machine.environment, () => undefined),
    /NATS_URL/,
  );
  assert.not(existsSync(cachedNatsServer(machine.environment)));
});

test('says in one message what to install when there is no way, and why each way failed', async () => {
  machine = machineWith({ 'apt-get': 'echo "E: no such package" >&2; exit 100' });
  const attempt = obtainNatsServer(machine.environment, () => undefined);
  await assertRejects(attempt, /apt-get install nats-server[\s\S]*apt-get: E: no such package/);
});

test('refuses a named program that cannot be run instead of using another one', () => {
  machine = machineWith({ 'nats-server': '' });
  const environment = { ...machine.environment, NATS_SERVER_BIN: join(machine.folder, 'server') };
  assert.throws(() => findNatsServer(environment), /NATS_SERVER_BIN/);
  assert.is(findNatsServer(machine.environment), join(machine.folder, 'programs', 'nats-server'));
});

async function assertRejects(promise: Promise<unknown>, pattern: RegExp): Promise<void> {
  const outcome = await promise.then(
    () => 'it did not fail',
    (error: unknown) => String(error),
  );
  assert.match(outcome, pattern);
}

test.run();
