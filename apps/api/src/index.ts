import {
  assertAdmitted,
  BlankStretches,
  categoryPrefix,
  commandMetrics,
  connectGateway,
  connectNats,
  createFileStore,
  createHttpServer,
  createLog,
  createMetrics,
  createReadModel,
  createStreams,
  type EventStore,
  type FactReadSide,
  type HealthCheck,
  type HttpOptions,
  IntakeWriter,
  type Log,
  listeningSession,
  type Metrics,
  type Module,
  type Nats,
  natsBroker,
  openEventStore,
  openLogFeed,
  type Parts,
  type ReadModel,
  RecentFacts,
  RecentWrites,
  RefusalQuota,
  RequestRunner,
  reservation,
  type Started,
  type Streams,
  snapshotsIn,
  startCacheFollower,
  startParts,
  systemClock,
  trackFillings,
  type UnreadEvent,
  watchClock,
  watchPublicBytes,
} from '@counterfoil/engine';
import {
  checkDocument,
  createClocks,
  createDirectory,
  type Directory,
  foldingPackages,
  importLimits,
  modules,
  partsOf,
  paymentProviderOf,
  type Secrets,
  secretsFrom,
} from '@counterfoil/modules';
import { targetPolicyOf } from '@counterfoil/webhooks';
import { isOfAuthentication, startAuthentication } from './authentication.ts';
import { type ApiConfig, quotasOf } from './config.ts';
import { documentWriter } from './documents.ts';
import { furthestPosition } from './furthest-position.ts';
import { startImports } from './imports.ts';
import { describedApi } from './info.ts';
import { type ApiMembers, joinApi } from './members.ts';
import { noticesOf } from './notices.ts';
import { createOperatorServer } from './operator-server.ts';
import { connectSenders } from './senders.ts';

export { type ApiConfig, apiConfigSchema } from './config.ts';

/** A running API. */
export interface Api {
  readonly port: number;
  /** Port of the operator API; null when there is none. */
  readonly operatorPort: number | null;
  stop(): Promise<void>;
}

/** The options of an API beside its configuration. */
export interface ApiOptions {
  /** Further readiness checks, such as that the process is not stopping. */
  readonly health?: readonly HealthCheck[];
  /** The clock that is judged by the event store's, in milliseconds; that of the machine unless given. */
  readonly wall?: () => number;
}

const drainMilliseconds = 10_000;

/** Throws unless the read models answer and none of them lags behind the others. */
async function assertLevel(readModel: ReadModel): Promise<void> {
  await readModel.check();
  const behind = readModel.behind();
  if (behind.length > 0) throw new Error(`Read tables left behind: ${behind.join(', ')}.`);
}

/** NATS, which the API needs only for the feed of events. */
async function openBroker(
  started: Started,
  { NATS_URL: url }: ApiConfig,
  head: () => Promise<bigint>,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
) {
  if (url === undefined) return { nats: null, check: withoutNats };
  const nats = started.add(
    await connectNats({ url, name: 'counterfoil api', log, metrics }),
    close,
  );
  const events = natsBroker(nats, log, head);
  // Not the connection alone: a message of somebody else makes the stream unreadable.
  const check = async () => {
    await nats.check();
    await events.lastPosition();
  };
  return { nats, events, check };
}

const withoutNats = (): Promise<never> =>
  Promise.reject(new Error('NATS_URL is not set: the event feed is not available.'));

/** The event gateway, where there is one. */
async function openGateway(started: Started, config: ApiConfig, log: Log) {
  const { EVENT_GATEWAY_URL: url, EVENT_GATEWAY_PUBLIC_URL: publicUrl } = config;
  if (url === undefined) return { health: [] };
  const { gatewaySeed: seed } = secretsFrom(config.COUNTERFOIL_SECRET_KEY);
  const address = { url, publicUrl, name: 'counterfoil api' };
  const { events, check } = started.add(await connectGateway({ ...address, seed, log }), close);
  return { events, health: [{ name: 'event_gateway', required: false, check }] };
}

/**
 * Starts the API. Resolves when it accepts requests; its dependencies may still be out of reach. When it
 * cannot start, everything that was opened is closed.
 */
export const startApi = (config: ApiConfig, options: ApiOptions = {}): Promise<Api> =>
  startParts((started) => openApi(started, config, options));

const close = (thing: { close(): Promise<void> }): Promise<void> => thing.close();
const stop = (part: { stop(): Promise<void> }): Promise<void> => part.stop();

/** The other processes of the API; null without the broker over which they hear of one another. */
function joinOthers(
  started: Started,
  nats: Nats | null,
  tools: { readonly secret: Uint8Array; readonly metrics: Metrics },
): ApiMembers | null {
  if (nats === null) return null;
  const members = joinApi({ nats, ...tools });
  started.add(members.ownership, close);
  return members;
}

/** Few events are wanted, and a follower that falls behind reads for itself. */
const windowEvents = 1_024;

interface TimeTools extends Pick<ApiOptions, 'wall'> {
  readonly store: EventStore;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The guard of the process's clock. */
function watchTime(started: Started, config: ApiConfig, { wall, ...tools }: TimeTools) {
  const { CLOCK_SKEW_SECONDS: limitSeconds } = config;
  const judged = wall ? { wall } : {};
  return started.add(watchClock({ ...tools, limitSeconds, ...judged }), stop);
}

interface FollowedParts {
  readonly store: EventStore;
  readonly slices: readonly Module[];
  readonly streams: Streams;
  readonly log: Log;
}

/**
 * The event store with the one subscription of the process, which brings the keys and clocks, and to the cache
 * what other processes append to the streams that it keeps. Other events cost a look at their place.
 */
function followedStore(started: Started, { store, slices, streams, log }: FollowedParts) {
  const { cache } = streams;
  const prefixes = [reservation, ...slices.flatMap(({ aggregates }) => aggregates)].map(
    ({ name }) => categoryPrefix(name),
  );
  const wants = (event: UnreadEvent): boolean => isOfAuthentication(event) || cache.wants(event);
  const feed = started.add(openLogFeed({ store, prefixes, wants, windowEvents }), close);
  const followed = { ...store, follow: feed.follow };
  started.add(startCacheFollower({ store: followed, cache, prefixes, log }), stop);
  return followed;
}

/** The tables of facts as requests read them. */
const factReads = (
  { pool, prepared }: ReadModel,
  tracker: ReturnType<typeof trackFillings>,
  store: EventStore,
): FactReadSide => {
  const stretches = new BlankStretches(store);
  return { pool, prepared, tracker, stretches, recent: new RecentFacts() };
};

interface StreamParts {
  readonly store: EventStore;
  readonly time: Pick<ReturnType<typeof watchTime>, 'doubt'>;
  readonly members: ApiMembers | null;
  readonly slices: readonly Module[];
  readonly clocks: ReturnType<typeof createClocks>;
  readonly config: ApiConfig;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly parts: Parts;
}

/** The folded streams of the process, and what decides on them. */
const streamsOf = ({
  store,
  time,
  members,
  slices,
  clocks,
  config,
  log,
  metrics,
  parts,
}: StreamParts): Streams =>
  createStreams({
    store,
    doubtOfTime: time.doubt,
    ...(members ? { ownership: members.ownership } : {}),
    aggregates: slices.flatMap(({ aggregates }) => aggregates),
    ...{ clock: clocks, parts },
    ...commandMetrics(metrics),
    ...snapshotsIn(config.SNAPSHOT_FOLDER, foldingPackages(), log),
    onLeftBehind: ({ name }, error) =>
      log.warn({ err: error, stream: name }, 'a claim stays behind'),
  });

interface CheckedParts {
  readonly store: EventStore;
  readonly time: Pick<ReturnType<typeof watchTime>, 'check'>;
  readonly readModel: ReadModel;
  readonly broker: Pick<Nats, 'check'>;
  readonly members: ApiMembers | null;
  readonly gateway: { readonly health: readonly HealthCheck[] };
  readonly senders: { readonly health: readonly HealthCheck[] };
}

/** The readiness checks of the parts of the API. */
const healthOf = ({
  store,
  time,
  readModel,
  broker,
  members,
  gateway,
  senders,
}: CheckedParts): readonly HealthCheck[] => [
  { name: 'event_store', required: true, check: () => store.ping() },
  { name: 'clock', required: true, check: () => time.check() },
  { name: 'read_model', required: false, check: () => assertLevel(readModel) },
  { name: 'nats', required: false, check: broker.check },
  ...(members ? [members.health] : []),
  ...gateway.health,
  ...senders.health,
];

/** The place of files beside the log. */
const filesOf = ({ DATABASE_URL: database }: ApiConfig) =>
  createFileStore({ database, environmentBytes: importLimits.keptBytes });

async function openApi(started: Started, config: ApiConfig, options: ApiOptions) {
  const log = createLog({ level: config.LOG_LEVEL, name: 'api' });
  const metrics = createMetrics();
  const { DATABASE_URL: database } = config;
  const session = listeningSession(database);
  const readModel = started.add(createReadModel({ url: database, log, session }), close);
  const store = started.add(openEventStore({ url: config.EVENTSTORE_URL }), close);
  await assertAdmitted({ store, database });
  const broker = await openBroker(started, config, furthestPosition(store, readModel), {
    log,
    metrics,
  });
  const gateway = await openGateway(started, config, log);
  const senders = await connectSenders(started, config, log);
  const quotas = quotasOf(config);
  const directory = createDirectory(quotas);
  const clocks = createClocks(systemClock);
  const secrets = secretsFrom(config.COUNTERFOIL_SECRET_KEY);
  const files = started.add(filesOf(config), close);
  const paymentProvider = paymentProviderOf(config, secrets);
  const slices = modules({
    ...{ directory, files, clocks, quotas, secrets },
    ...{ paymentProvider, stripeApiUrl: config.STRIPE_API_URL },
    broker: broker.events,
    gateway: gateway.events,
    targetPolicy: targetPolicyOf(config),
    exportFolder: config.EXPORT_FOLDER ?? null,
  });
  const time = watchTime(started, config, { store, log, metrics, ...options });
  const members = joinOthers(started, broker.nats, { secret: secrets.membersSecret, metrics });
  const parts = partsOf({ secrets, policy: targetPolicyOf(config), now: Date.now });
  const streams = streamsOf({ store, time, members, slices, clocks, config, log, metrics, parts });
  const { publicBytesPerHour: perHour } = quotas;
  const publicBytes = started.add(watchPublicBytes({ database, log, perHour }), close);
  const followed = followedStore(started, { store, slices, streams, log });
  const authentication = startAuthentication(followed, { directory, clocks }, log);
  started.add(authentication.fold, stop);
  const recentWrites = new RecentWrites();
  const fillings = started.add(trackFillings(session, log), close);
  const facts = {
    writer: new IntakeWriter({ store, clock: clocks, doubtOfTime: time.doubt }),
    reads: factReads(readModel, fillings, store),
  };
  const runOptions = {
    facts,
    publicBytes,
    streams,
    readSide: readModel,
    recentWrites,
    now: Date.now,
    takenOver: authentication.takenOver,
    refusals: new RefusalQuota({ perHour: quotas.refusalsPerHour }),
  };
  const shared: Pick<HttpOptions, 'host' | 'health' | 'log'> = {
    host: { begin: (request) => new RequestRunner(runOptions, request) },
    health: [
      ...(options.health ?? []),
      ...healthOf({ store, time, readModel, broker, members, gateway, senders }),
    ],
    log,
  };
  const server = createHttpServer({
    ...shared,
    ...(members ? { elsewhere: members.elsewhere({ ...runOptions, authentication }) } : {}),
    ...describedApi(slices),
    writeDocument: documentWriter(),
    notices: noticesOf({ config, provider: paymentProvider, directory, secrets, streams }),
    openQuestions: { '/documents/verify': checkDocument(secrets.documentSecret) },
    authenticate: (apiKey) => authentication.authenticate(apiKey),
    metrics,
    rateLimit: { perSecond: config.RATE_LIMIT_PER_SECOND },
    unknownNames: config.UNKNOWN_NAMES,
    corsOrigins: config.CORS_ORIGINS,
  });
  started.add(server, () => {
    members?.ownership.leave();
    return server.close(drainMilliseconds);
  });
  await authentication.fold.ready;
  senders.take({ slices, server, authentication, now: Date.now, log, metrics });
  const policy = targetPolicyOf(config);
  const imports = { database, files, streams, server, authentication, policy, log, metrics };
  started.add(startImports(imports), stop);
  await streams.readAhead();
  const { port } = await server.listen(config.PORT, config.HOST);
  members?.open({ server, authentication });
  const operatorPort = await openOperators(started, config, { shared, directory, secrets });
  return { port, operatorPort };
}

interface OperatorTools {
  readonly shared: Pick<HttpOptions, 'host' | 'health' | 'log'>;
  readonly directory: Directory;
  readonly secrets: Secrets;
}

/** Opens the operator API, where there is a key for it. Gives its port; null without one. */
async function openOperators(
  started: Started,
  config: ApiConfig,
  { shared, directory, secrets }: OperatorTools,
): Promise<number | null> {
  const { OPERATOR_KEY: operatorKey } = config;
  if (operatorKey === undefined) return null;
  const { keyMaterial } = secrets;
  const metrics = createMetrics({ processMetrics: false });
  const operators = createOperatorServer({
    ...shared,
    operatorKey,
    keyMaterial,
    directory,
    metrics,
  });
  started.add(operators, () => operators.close(drainMilliseconds));
  const { port } = await operators.listen(config.OPERATOR_PORT, config.OPERATOR_HOST);
  return port;
}
