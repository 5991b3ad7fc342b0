import { module } from '@counterfoil/engine/define';
import { connection, connectionRecords } from './connection.ts';
import { type ConnectionOptions, connectionRoutes } from './routes.ts';

export {
  type ConnectionRecord,
  connection,
  connectionRecords,
  s3CredentialsIn,
  s3CredentialsOf,
} from './connection.ts';
export { type ConnectionOptions, connectionRoutes } from './routes.ts';
export { connectionSecretSchema, type ProviderType, type S3Credentials } from './schema.ts';

/** Ways to storages that lie outside, with their credentials. */
export const connections = (options: ConnectionOptions) =>
  module({
    name: 'connections',
    aggregates: [connection],
    tables: [connectionRecords.table],
    routes: connectionRoutes(options),
    publicEvents: [connectionRecords.publicEvents],
  });

/** The routes with their exact types, for the typed client. */
export type ConnectionRoutes = ReturnType<typeof connectionRoutes>;
