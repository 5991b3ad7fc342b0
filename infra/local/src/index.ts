export { batchLauncher, type Turns } from './batch-work.ts';
export {
  type DataFolder,
  DataFolderInUseError,
  dataFolder,
  runningProcesses,
} from './data-folder.ts';
export { type EventStoreOptions, startEventStore } from './event-store.ts';
export type { ProcessExit } from './guarded-process.ts';
export type { Kept, RestartPolicy, Running } from './keep-running.ts';
export { type LocalServer, ServerStartError } from './local-server.ts';
export { type LogFile, openLogFile } from './log-file.ts';
export {
  type EventGatewayOptions,
  type LocalNats,
  type NatsOptions,
  startEventGateway,
  startNats,
} from './nats.ts';
export { freePort, rememberedPorts } from './ports.ts';
export { type PostgresOptions, startPostgres } from './postgres.ts';
export { AlreadyRunningError, isRunning, recordedPid } from './process-record.ts';
export {
  type Readiness,
  type ReadyProcess,
  type SupervisedProcessOptions,
  superviseProcess,
  superviseServer,
} from './supervise.ts';
