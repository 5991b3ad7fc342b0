import { closeSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { UnreadableEvent } from '../log/incoming-event.ts';
import { createMetrics } from '../operations/metrics.ts';
import {
  acme,
  added,
  allTables,
  bolt,
  opened,
  silentLog,
  startWorld,
  statement,
  type TestLog,
  type TestWorld,
  until,
  untilLive,
  withProjector,
} from '../projection/test-world.ts';
import { type RoundCheck, startVerification, type Verification } from './verification.ts';

const test = suite('verification in the background');
let world: TestWorld;

test.before(async () => {
  world = await startWorld();
});
test.after(() => world.close());

const tables = allTables;
const pace = { eventsPerSecond: 1_000_000, share: 1 };

/** A log of ten streams with two events each, and a database that was filled from it. */
async function filled(): Promise<{ log: TestLog; database: string }> {
  const log = await world.log();
  const database = await world.database();
  let position = 0n;
  for (let index = 0; index < 10; index += 1) {
    const events = [opened(`marker${index}`), added(index)];
    position = await log.pen.write(`c${index}`, events, index % 2 ? acme : bolt);
  }
  await withProjector({ store: log.store, database, tables }, (p) => untilLive(p, position));
  return { log, database };
}

interface Running {
  readonly verification: Verification;
  /** Waits for the end of a round that begins from now on. */
  round(): Promise<void>;
  metric(name: string): Promise<number>;
  /** The finding that `check` reports. */
  finding(): Promise<string>;
}

async function verifying(
  { log, database }: { log: TestLog; database: string },
  work: (running: Running) => Promise<void>,
  options: Partial<Parameters<typeof startVerification>[0]> = {},
): Promise<void> {
  const metrics = createMetrics({ processMetrics: false });
  const verification = startVerification({
    store: log.store,
    database,
    prefixes: ['counter-'],
    tables,
    isActive: () => true,
    pace,
    restMilliseconds: 20,
    log: silentLog,
    metrics,
    ...options,
  });
  const rounds = async () => (await progress(database)).round;
  try {
    await work({
      verification,
      async round() {
        const now = await rounds();
        await until('the end of a round', async () => (await rounds()) > now + 1);
      },
      async metric(name) {
        const { values } = (await metrics.registry.getSingleMetric(name)?.get()) ?? {};
        return values?.[0]?.value ?? Number.NaN;
      },
      finding: () =>
        verification.check().then(
          () => 'nothing',
          (error: Error) => error.message,
        ),
    });
  } finally {
    await verification.stop();
  }
}

async function progress(database: string): Promise<{ round: number; position: bigint }> {
  const [row] = await statement<{ round: string; position: string }>(
    database,
    'select round, position from counterfoil.verification',
  );
  return { round: Number(row?.round), position: BigInt(row?.position ?? 0) };
}

/** Places of the findings that a tenant gets to see. */
async function shownTo(database: string, { tenant, environment }: typeof acme): Promise<string[]> {
  const rows = await statement<{ places: string[] | null }>(
    database,
    `select jsonb_path_query_array(resource::jsonb, '$.findings[*].place') as places
       from (select set_config('counterfoil.tenant', $1, false),
                    set_config('counterfoil.environment', $2, false)) as settings,
            lateral (select resource from counterfoil.ledger_verification) as shown`,
    [tenant, environment],
  );
  return rows[0]?.places ?? [];
}

/** Changes one byte of a text inside the files of the event store, in every copy of it. */
function tamper(directory: string, text: string, replacement: string): number {
  let places = 0;
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const file = join(directory, name);
    if (!statSync(file).isFile()) continue;
    const content = readFileSync(file);
    const handle = openSync(file, 'r+');
    for (let at = content.indexOf(text); at >= 0; at = content.indexOf(text, at + 1)) {
      writeSync(handle, replacement, at);
      places += 1;
    }
    closeSync(handle);
  }
  return places;
}

test('goes through the log again and again and says how far it is', async () => {
  const given = await filled();
  await verifying(given, async ({ round, metric, finding }) => {
    await round();
    assert.is(await finding(), 'nothing');
    assert.is(await metric('counterfoil_verification_findings'), 0);
    assert.ok((await metric('counterfoil_verification_events_total')) >= 20);
    await until(
      'the end of a round on the metrics',
      async () => (await metric('counterfoil_verification_completed_timestamp_seconds')) > 0,
    );
  });
});

test('finds one byte that was changed in the store, tells its owner alone, and remembers', async () => {
  const given = await filled();
  await given.log.whileStopped(() =>
    assert.ok(tamper(given.log.directory, '"name":"marker3"', '"name":"markex3"') > 0),
  );
  const expected = /1 findings, the first: event counter-env_acme.c3@0: its content does not match/;
  await verifying(
    given,
    async ({ round, metric, finding }) => {
      await round();
      assert.match(await finding(), expected);
      assert.is(await metric('counterfoil_verification_findings'), 1);
    },
    { tables: [] },
  );
  assert.equal(await shownTo(given.database, acme), ['counter-env_acme.c3@0']);
  assert.equal(await shownTo(given.database, bolt), []);
  await verifying(
    given,
    async ({ finding }) => {
      await until('the finding of the former process', async () => expected.test(await finding()));
    },
    { prefixes: ['none-'], tables: [] },
  );
});

test('finds a changed row of a read model until it is put right', async () => {
  const given = await filled();
  const total = (value: number) =>
    statement(
      given.database,
      `update counterfoil.counters_v1 set total = ${value} where id = 'c3'`,
    );
  await total(30);
  await verifying(given, async ({ round, finding }) => {
    await round();
    assert.match(await finding(), /read_model counters c3 total: is not what the log says/);
    await total(3);
    await round();
    assert.is(await finding(), 'nothing');
  });
});

test('goes on where the last process ended', async () => {
  const given = await filled();
  const seen: string[] = [];
  const roundCheck = async (): Promise<RoundCheck> => ({
    take: ({ stream, revision }) => seen.push(`${stream}@${revision}`),
    findings: () => [],
  });
  const [half] = await statement<{ position: string }>(
    given.database,
    `update counterfoil.verification set position = (
       select position from counterfoil.counters where id = 'c4')
     returning position`,
  );
  assert.ok(Number(half?.position) > 0);
  await verifying(
    given,
    async ({ metric }) => {
      await until('the end of the round', async () => (await progress(given.database)).round > 1);
      assert.is(await metric('counterfoil_verification_events_total'), 10);
      assert.equal(seen, [], 'a check that needs the beginning is not asked');
    },
    { roundCheck, restMilliseconds: 60_000 },
  );
});

test('finds that what it verified last is gone, and keeps saying so', async () => {
  const given = await filled();
  await verifying(given, ({ round }) => round());
  const other = await world.log();
  await other.pen.write('c9', [opened('another story')], acme);
  await verifying(
    { ...given, log: other },
    async ({ round, finding }) => {
      await round();
      assert.match(
        await finding(),
        /^The verification has \d+ findings, .*log counter-env_acme.c9@1/,
      );
      await round();
      assert.match(await finding(), /gone or another/);
    },
    { tables: [] },
  );
});

test('reports what a check of the whole round finds', async () => {
  const given = await filled();
  const roundCheck = async (): Promise<RoundCheck> => ({
    take: () => undefined,
    findings: () => [{ kind: 'checkpoint', place: 'ckpt_1', scope: 'env_acme', problem: 'lost' }],
  });
  await verifying(
    given,
    async ({ round, finding }) => {
      await round();
      assert.match(await finding(), /checkpoint ckpt_1: lost/);
    },
    { roundCheck },
  );
});

test('goes as far as the check of a round may know of', async () => {
  const given = await filled();
  const roundCheck = async (): Promise<RoundCheck> => {
    // Something is written, and the check learns of it, while the round begins.
    const known = await given.log.pen.write('c0', [added(1)], bolt);
    let reached = 0n;
    return {
      take: ({ position }) => {
        reached = position;
      },
      findings: () =>
        reached >= known
          ? []
          : [{ kind: 'checkpoint', place: 'ckpt_1', scope: 'env_bolt', problem: 'lost' }],
    };
  };
  await verifying(
    given,
    async ({ round, finding }) => {
      await round();
      assert.is(await finding(), 'nothing');
    },
    { roundCheck, tables: [] },
  );
});

test('a round that was interrupted for a moment is not complete', async () => {
  const given = await filled();
  await given.log.pen.write(
    'c0',
    Array.from({ length: 600 }, () => added(1)),
    bolt,
  );
  let asked = 0;
  // Not active for one moment: when it is asked in the midst of the first walk.
  const isActive = () => {
    asked += 1;
    return asked !== 2;
  };
  const judged: number[] = [];
  const roundCheck = async (): Promise<RoundCheck> => {
    let events = 0;
    return {
      take: () => {
        events += 1;
      },
      findings: () => {
        judged.push(events);
        return [];
      },
    };
  };
  await verifying(given, ({ round }) => round(), { isActive, roundCheck, tables: [] });
  assert.ok(judged.length > 0);
  assert.ok(
    judged.every((events) => events === 620),
    `judged after ${judged} events`,
  );
});

test('finds that what it verified last cannot be read any more', async () => {
  const given = await filled();
  await verifying(given, ({ round }) => round(), { tables: [] });
  const stream = 'counter-env_acme.c9';
  const store: typeof given.log.store = Object.create(given.log.store, {
    readStream: {
      value: async function* () {
        yield* [];
        throw new UnreadableEvent(stream, 1, 'it is no JSON');
      },
    },
  });
  await verifying(
    given,
    async ({ finding }) => {
      await until('a finding', async () => (await finding()) !== 'nothing');
      assert.match(await finding(), /event counter-env_acme.c9@1/);
    },
    { store, tables: [] },
  );
});

test('stands by while another process is active', async () => {
  const given = await filled();
  let asked = 0;
  const isActive = () => {
    asked += 1;
    return false;
  };
  await verifying(
    given,
    async () => {
      await until('it was asked', () => asked > 1);
      assert.equal(await progress(given.database), { round: 1, position: 0n });
    },
    { isActive },
  );
});

test.run();
