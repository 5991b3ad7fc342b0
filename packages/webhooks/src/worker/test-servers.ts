import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { type LocalServer, startNats, startPostgres } from '@counterfoil/local';

/** PostgreSQL and NATS on throw-away folders; either can crash and come back where it was. */
export class TestServers {
  readonly #directory: string;
  #postgres: LocalServer;
  #nats: LocalServer;
  readonly databaseUrl: string;
  readonly natsUrl: string;

  readonly #durable: boolean;

  private constructor(
    directory: string,
    durable: boolean,
    postgres: LocalServer,
    nats: LocalServer,
  ) {
    this.#directory = directory;
    this.#durable = durable;
    this.#postgres = postgres;
    this.#nats = nats;
    this.databaseUrl = postgres.url;
    this.natsUrl = nats.url;
  }

  /**
   * Starts both. Unless it is durable, PostgreSQL is quicker, and may forget in a crash what it said
   * was committed.
   */
  static async start(durable: boolean): Promise<TestServers> {
    const directory = await mkdtemp(join(tmpdir(), 'webhooks-'));
    const [postgres, nats] = await Promise.all([
      startPostgres({ directory: join(directory, 'postgres'), durable }),
      startNats({ directory: join(directory, 'nats') }),
    ]);
    return new TestServers(directory, durable, postgres, nats);
  }

  /** Kills PostgreSQL and starts it again. */
  async crashPostgres(): Promise<void> {
    const { port } = this.#postgres;
    await this.#postgres.kill();
    this.#postgres = await startPostgres({
      directory: join(this.#directory, 'postgres'),
      durable: this.#durable,
      port,
    });
  }

  /** Kills NATS and starts it again. */
  async crashNats(): Promise<void> {
    const { port } = this.#nats;
    await this.#nats.kill();
    this.#nats = await startNats({ directory: join(this.#directory, 'nats'), port });
  }

  async stop(): Promise<void> {
    await Promise.all([this.#postgres.stop(), this.#nats.stop()]);
    await rm(this.#directory, { recursive: true, force: true });
  }
}
