import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

/** A port of 127.0.0.1 that nothing listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = await listen(0);
  const port = portOf(server);
  await close(server);
  return port;
}

const attemptsMaximum = 3;

/**
 * Starts a server on a port. Without one it is a free one, and another one when some program takes
 * it in the moment between the choice and the start.
 *
 * @param given the port that it must be, if any
 * @param start rejects with what the server said
 */
export async function onPort<Started>(
  given: number | undefined,
  start: (port: number) => Promise<Started>,
): Promise<Started> {
  if (given !== undefined) return await start(given);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await freePort());
    } catch (error) {
      const wasTaken = error instanceof Error && /address already in use/i.test(error.message);
      if (!wasTaken || attempt >= attemptsMaximum) throw error;
    }
  }
}

/**
 * Chooses a free port of 127.0.0.1 for each name: the one that was chosen the last time where it is
 * still free, so that addresses stay the same from one start to the next. The choice is kept in
 * ports.json in the folder.
 *
 * @param folder absolute path of an existing folder
 * @param names what the ports are for; the order does not matter
 */
export async function rememberedPorts<Name extends string>(
  folder: string,
  names: readonly Name[],
): Promise<Record<Name, number>> {
  const file = join(folder, 'ports.json');
  const remembered = readPorts(file);
  const chosen: Record<string, number> = {};
  // All are held at once while choosing, so that no two names get the same port.
  const held: Server[] = [];
  try {
    for (const name of names) {
      const server = await listenPreferably(remembered[name]);
      held.push(server);
      chosen[name] = portOf(server);
    }
  } finally {
    await Promise.all(held.map(close));
  }
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ ...remembered, ...chosen }, null, 2)}\n`);
  renameSync(draft, file);
  return chosen as Record<Name, number>;
}

function readPorts(file: string): Record<string, number> {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

async function listenPreferably(port: number | undefined): Promise<Server> {
  if (port === undefined) return await listen(0);
  return await listen(port).catch(() => listen(0));
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => resolve(server));
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  return address.port;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
