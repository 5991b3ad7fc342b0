import {
  assertAdmitted,
  categoryPrefix,
  connectGateway,
  connectNats,
  countPublicBytes,
  createLog,
  createMetrics,
  createReaders,
  createServiceServer,
  createStreams,
  dueRunner,
  type EventPlace,
  type EventStore,
  eventsOfRecords,
  type Fillings,
  factsFrom,
  type Gateway,
  type HealthCheck,
  type ListeningSession,
  type Log,
  listeningSession,
  type Metrics,
  type Module,
  migrate,
  migrationsOf,
  type Nats,
  natsBroker,
  openEventStore,
  openLogFeed,
  type Projector,
  postgresCheckpoint,
  type Reactions,
  type Relay,
  type RoundCheck,
  reservation,
  type Started,
  type Streams,
  snapshotsIn,
  startAdvances,
  startCacheFollower,
  startDueWork,
  startFactWork,
  startFillings,
  startLiveFold,
  startParts,
  startProjector,
  startReactions,
  startRelay,
  startVerification,
  systemClock,
  type TrustedTime,
  trackFillings,
  type Verification,
  watchClock,
} from '@counterfoil/engine';
import {
  createClocks,
  type FollowedClocks,
  foldingPackages,
  modules,
  type PaymentProvider,
  partsOf,
  paymentProviderOf,
  secretsFrom,
  testClock,
} from '@counterfoil/modules';
import { targetPolicyOf } from '@counterfoil/webhooks';
import { checkpointFindings, createCheckpointCheck } from './checkpoint-check.ts';
import { startCheckpointSchedule } from './checkpoint-schedule.ts';
import type { ProjectorConfig } from './config.ts';

export { type ProjectorConfig, projectorConfigSchema } from './config.ts';

/** A running projector: read models and relay. */
export interface ProjectorApp {
  readonly healthPort: number;
  stop(): Promise<void>;
}

/** The time that one wait for the projector lasts before it is looked at again. */
const waitMilliseconds = 5_000;

/** The relay's view of the projector: it stays behind the read models for as long as it takes. */
const behind = (projector: Projector) => ({
  async waitFor(position: bigint, signal: AbortSignal): Promise<void> {
    while (!(await projector.projected.waitFor(position, waitMilliseconds, signal))) {
      signal.throwIfAborted();
    }
  },
});

/** The payment provider of the installation. Throws for operators where its credentials could not be opened. */
function switchedOn(config: ProjectorConfig): PaymentProvider | null {
  const { COUNTERFOIL_SECRET_KEY: key, PAYMENT_PROVIDER: name } = config;
  if (key !== undefined) return paymentProviderOf(config, secretsFrom(key));
  if (name === 'none') return null;
  throw new Error(`PAYMENT_PROVIDER is ${name}, whose credentials need COUNTERFOIL_SECRET_KEY.`);
}

const serverDrainMilliseconds = 1_000;

/** A verification is at work this share of the time at most, however many events it may check. */
const verificationShare = 0.1;

/**
 * Starts to project and to publish. Resolves as soon as both are under way; when that fails, the
 * parts that had been started are stopped.
 */
export const startProjectorApp = (
  config: ProjectorConfig,
  health: readonly HealthCheck[] = [],
): Promise<ProjectorApp> =>
  startParts(async (started) => {
    const log = createLog({ level: config.LOG_LEVEL, name: 'projector' });
    const metrics = createMetrics();
    const nats = await connectedNats(started, config, { log, metrics });
    const gateway = await connectedGateway(started, config, log);
    const broker = natsBroker(nats, log, () => store.head());
    const paymentProvider = switchedOn(config);
    const slices = modules({ secrets: null, broker, gateway: gateway?.events, paymentProvider });
    const store = sharedStore(started, config.EVENTSTORE_URL, slices);
    await assertAdmitted({ store, database: config.DATABASE_URL });
    await migrate({ database: config.DATABASE_URL, migrations: migrationsOf(slices) });
    const aggregates = slices.flatMap((slice) => slice.aggregates);
    const snapshots = snapshotsIn(config.SNAPSHOT_FOLDER, foldingPackages(), log);
    const clocks = createClocks(systemClock);
    const { CLOCK_SKEW_SECONDS: limitSeconds } = config;
    const time = started.add(watchClock({ store, limitSeconds, log, metrics }), stop);
    const { doubt: doubtOfTime } = time;
    const { COUNTERFOIL_SECRET_KEY: key } = config;
    const parts = partsOf({
      secrets: key === undefined ? null : secretsFrom(key),
      policy: targetPolicyOf(config),
      now: () => Date.parse(systemClock.now('')),
    });
    const common = { store, aggregates, clock: clocks, doubtOfTime, parts };
    const streams = createStreams({ ...common, ...snapshots });
    const prefixes = prefixesOf(slices);
    started.add(startCacheFollower({ store, cache: streams.cache, prefixes, log }), stop);
    const session = listeningSession(config.DATABASE_URL);
    const tools: Tools = {
      config,
      started,
      store,
      session,
      streams,
      clocks,
      time,
      slices,
      log,
      metrics,
    };
    const projector = project(tools);
    const fillings = fillFacts(tools);
    const relay = publish(tools, projector, nats);
    const reactions = actByItself(tools, projector);
    const verification = keepOrder(tools, projector);
    const server = createServiceServer({
      health: [
        ...health,
        { name: 'event_store', required: true, check: () => store.ping() },
        { name: 'clock', required: false, check: () => time.check() },
        { name: 'projections', required: true, check: () => projector.check() },
        { name: 'facts', required: true, check: () => fillings.check() },
        ...(gateway ? [{ name: 'event_gateway', required: false, check: gateway.check }] : []),
        { name: 'reactions', required: false, check: () => reactions.check() },
        { name: 'verification', required: true, check: () => verification.check() },
        { name: 'relay', required: false, check: async () => assertNoError(relay.status().error) },
      ],
      metrics,
      log,
      info: { title: 'Counterfoil projector', version: '1', description: 'Read models and relay' },
    });
    started.add(server, () => server.close(serverDrainMilliseconds));
    const { port } = await server.listen(config.HEALTH_PORT, config.HOST);
    return { healthPort: port };
  });

/** Nobody waits for what the service does by itself, so it may wait for a session of the database longer than a caller. */
const readWaitMilliseconds = 30_000;

/** The broker does not hold up the start for longer: the read models do without it. */
const firstWaitMilliseconds = 1_000;

async function connectedNats(
  started: Started,
  { NATS_URL: url }: ProjectorConfig,
  tools: Pick<Tools, 'log' | 'metrics'>,
): Promise<Nats> {
  const address = { url, name: 'counterfoil relay', firstWait: firstWaitMilliseconds };
  return started.add(await connectNats({ ...address, ...tools }), close);
}

/** The event gateway, where there is one. */
async function connectedGateway(
  started: Started,
  { EVENT_GATEWAY_URL: url, COUNTERFOIL_SECRET_KEY: secretKey }: ProjectorConfig,
  log: Log,
): Promise<Gateway | null> {
  if (url === undefined) return null;
  if (secretKey === undefined) throw new Error('EVENT_GATEWAY_URL needs COUNTERFOIL_SECRET_KEY.');
  const { gatewaySeed: seed } = secretsFrom(secretKey);
  const address = { url, publicUrl: undefined, name: 'counterfoil projector' };
  return started.add(await connectGateway({ ...address, seed, log }), close);
}

/** The event store, followed over one subscription by all parts that follow records. */
interface SharedStore extends EventStore {
  /** The same, for those who follow something else. */
  readonly whole: EventStore;
}

function sharedStore(started: Started, url: string, slices: readonly Module[]): SharedStore {
  const whole = started.add(openEventStore({ url }), close);
  const facts = prefixesOfFacts(slices);
  const prefixes = [...prefixesOf(slices), ...facts];
  // Facts are read by others. Here they only move the position on, so that one which lies among them is reached.
  const wants = ({ stream }: EventPlace) => !facts.some((prefix) => stream.startsWith(prefix));
  const feed = started.add(openLogFeed({ store: whole, prefixes, wants }), close);
  return { ...whole, follow: feed.follow, whole };
}

/** The streams of all records, and those of the engine itself. */
const prefixesOf = (slices: readonly Module[]): readonly string[] =>
  [reservation, ...slices.flatMap(({ aggregates }) => aggregates)].map(({ name }) =>
    categoryPrefix(name),
  );

/** The streams of facts. */
const prefixesOfFacts = (slices: readonly Module[]): readonly string[] =>
  slices.flatMap(({ facts = [] }) => facts.map(({ intake }) => categoryPrefix(intake.name)));

/** The tools that the parts are made with. */
interface Tools {
  readonly config: ProjectorConfig;
  readonly started: Started;
  readonly store: SharedStore;
  /** The session in which the process listens to PostgreSQL. */
  readonly session: ListeningSession;
  /** The folded streams of the process, for all parts together. */
  readonly streams: Streams;
  readonly clocks: FollowedClocks;
  /** The guard of the process's clock. */
  readonly time: TrustedTime;
  readonly slices: readonly Module[];
  readonly log: Log;
  readonly metrics: Metrics;
}

const close = (thing: { close(): Promise<void> }): Promise<void> => thing.close();
const stop = (part: { stop(): Promise<void> }): Promise<void> => part.stop();

function project({ config, started, store, session, slices, log, metrics }: Tools): Projector {
  const tables = slices.flatMap((slice) => slice.tables);
  const database = config.DATABASE_URL;
  const categories = slices.flatMap(({ facts = [] }) => facts.map(({ intake }) => intake.name));
  const options = { store, database, session, tables, categories, log, metrics };
  return started.add(startProjector(options), stop);
}

/** Fills the tables of facts, over a subscription of their own: they are many more than the events of records. */
function fillFacts({ config, started, store, session, slices, log, metrics }: Tools): Fillings {
  const tables = slices.flatMap(({ facts }) => facts ?? []);
  const database = config.DATABASE_URL;
  const { USAGE_RETENTION_MONTHS: months } = config;
  // The present of the installation, whatever the clocks of environments say: a month is dropped for all of them.
  const now = () => systemClock.now('');
  const retention = months === undefined ? {} : { retention: { months, now } };
  const options = { store: store.whole, database, session, tables, ...retention, log, metrics };
  return started.add(startFillings(options), stop);
}

function publish(
  { config, started, store, streams, slices, log, metrics }: Tools,
  projector: Projector,
  nats: Nats,
): Relay {
  const checkpoint = started.add(postgresCheckpoint(config.DATABASE_URL), close);
  const publicEvents = slices.flatMap((slice) => slice.publicEvents);
  const projected = behind(projector);
  const { cache } = streams;
  const size = {
    maximumBytes: config.EVENT_STREAM_BYTES,
    maximumAgeDays: config.EVENT_STREAM_DAYS,
  };
  const options = { store, cache, nats, publicEvents, projected, checkpoint, log, metrics };
  const bytes = started.add(countPublicBytes({ database: config.DATABASE_URL, log }), close);
  return started.add(startRelay({ ...options, streams: size, onPublished: bytes.note }), stop);
}

/**
 * Starts what the service does by itself: reactions, due work and the advances of test clocks. The last two
 * wait until all clocks are known: due work would run by the wrong time.
 */
function actByItself(
  { config, started, store, session, streams, clocks, time, slices, log, metrics }: Tools,
  projector: Projector,
): Reactions {
  const database = config.DATABASE_URL;
  const { projected } = projector;
  const common = { database, streams, clocks, projected, log, isActive: isActive(projector) };
  // Told by the projector here, without a session that hears of every batch.
  const behindAt = (table: string) =>
    projector.status().tables.find(({ name, status, behind: isBehind }) => {
      return name === table && status !== 'building' && isBehind;
    })?.position ?? null;
  const limits = { checkoutTimeoutMs: readWaitMilliseconds, sharesReads: true };
  const readers = started.add(createReaders({ url: database, log, behindAt, ...limits }), close);
  const tracker = started.add(trackFillings(session, log), close);
  const { pool, prepared } = readers;
  const factsOf = factsFrom({ pool, prepared, tracker }, store);
  const reactions = startReactions({
    ...common,
    store,
    reactions: slices.flatMap((slice) => slice.reactions ?? []),
    reader: readers.reader,
    factsOf,
    metrics,
  });
  started.add(reactions, stop);
  let areClocksKnown = false;
  const due = {
    ...common,
    time,
    work: slices.flatMap((slice) => slice.dueWork ?? []),
    run: dueRunner({ streams, log, metrics, reader: readers.reader, factsOf, projected }),
    isActive: () => areClocksKnown && common.isActive(),
  };
  const mayAdvance = () => due.isActive() && isLevel(projector);
  const advances = startAdvances({ ...due, store, reactions, isActive: mayAdvance });
  started.add(advances, stop);
  started.add(startDueWork(due), stop);
  const factWork = slices.flatMap((slice) => slice.factWork ?? []);
  const { isActive: mayWork } = due;
  started.add(
    startFactWork({
      ...common,
      work: factWork,
      tracker,
      reader: readers.reader,
      factsOf,
      time,
      metrics,
      isActive: mayWork,
    }),
    stop,
  );
  const fold = startLiveFold({
    store,
    ...eventsOfRecords([testClock], (event) => {
      clocks.apply(event);
      advances.wake();
    }),
    onFailed: (error) => {
      throw error;
    },
  });
  started.add(fold, stop);
  void fold.ready.then(() => {
    areClocksKnown = true;
  });
  return reactions;
}

const isActive = (projector: Projector) => () => projector.status().state === 'running';

/** Tells whether all read tables are at one position: an advance must see what is due in any of them. */
const isLevel = (projector: Projector): boolean =>
  projector.status().tables.every(({ status, behind }) => status !== 'stopped' && !behind);

/** Starts what keeps watch over the log: checkpoints and verification. */
function keepOrder(
  { config, started, store, streams, slices, log, metrics }: Tools,
  projector: Projector,
): Verification {
  const { COUNTERFOIL_SECRET_KEY: secretKey, CHECKPOINT_INTERVAL_SECONDS: intervalSeconds } =
    config;
  if (secretKey !== undefined) {
    const schedule = { store, streams, secretKey, intervalSeconds, log };
    started.add(startCheckpointSchedule(schedule), stop);
  }
  return started.add(
    startVerification({
      store,
      database: config.DATABASE_URL,
      prefixes: [...prefixesOf(slices), ...prefixesOfFacts(slices)],
      tables: slices.flatMap((slice) => slice.tables),
      roundCheck: () => checkpointRoundCheck(store),
      isActive: isActive(projector),
      pace: { eventsPerSecond: config.VERIFICATION_EVENTS_PER_SECOND, share: verificationShare },
      restMilliseconds: config.VERIFICATION_INTERVAL_SECONDS * 1_000,
      log,
      metrics,
    }),
    stop,
  );
}

/** Holds the log against the signed checkpoints on the way. */
async function checkpointRoundCheck(store: EventStore): Promise<RoundCheck> {
  const check = await createCheckpointCheck(store);
  return { take: check.take, findings: () => checkpointFindings(check.report()) };
}

function assertNoError(error: string | null): void {
  if (error) throw new Error(error);
}
