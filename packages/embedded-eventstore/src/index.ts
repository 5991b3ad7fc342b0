export {
  type EventStoreProcess,
  type ProcessOptions,
  startEventStoreProcess,
} from './child-process.ts';
export { DirectoryLockedError } from './lock.ts';
export { type RunningServer, type ServerOptions, startEventStoreServer } from './server.ts';
