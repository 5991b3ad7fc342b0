import { newText, type Routes } from '@counterfoil/engine/define';
import type { Sealer } from '@counterfoil/webhooks';
import { z } from 'zod';
import { equalTo, oneOf, recordRoutes } from '../record/index.ts';
import {
  archiveConnection,
  connectionRecords,
  createConnection,
  updateConnection,
} from './connection.ts';
import { createConnectionSchema, providerTypeSchema, updateConnectionSchema } from './schema.ts';

/** Everything that the routes of connections need from outside. */
export interface ConnectionOptions {
  /** Seals credentials before they become part of an event. */
  readonly sealer: Sealer;
}

const routes = recordRoutes(connectionRecords, { tag: 'Connections', right: 'connection' });

const filters = {
  provider_type: equalTo('provider_type', providerTypeSchema),
  name: equalTo('name', z.string().max(255)),
  connection_ids: oneOf('id', 64),
} as const;

const credentials = { s3: { aws_access_key_id: 'AKIAEXAMPLE', aws_secret_access_key: 'secret' } };

export const connectionRoutes = ({ sealer }: ConnectionOptions) =>
  ({
    'POST /connections': routes.create({
      description: 'Credentials are encrypted before they are recorded, and never shown again.',
      body: createConnectionSchema,
      example: {
        body: {
          name: newText('Warehouse'),
          provider_type: 's3',
          encrypted_secret_data: credentials,
        },
        texts: ['encrypted_secret_data.s3.aws_access_key_id'],
      },
      decide: (id, body) => ({ prepare: () => createConnection(sealer, id, body) }),
    }),
    'GET /connections': routes.list(filters),
    'POST /connections/search': routes.search('ConnectionSearch', filters),
    'GET /connections/{id}': routes.get(),
    'PUT /connections/{id}': routes.change({
      description: 'Credentials are replaced as a whole; what is left out stays.',
      body: updateConnectionSchema,
      example: {
        body: { name: newText('Renamed') },
        texts: ['encrypted_secret_data.s3.aws_access_key_id'],
      },
      decide: (id, body) => updateConnection(sealer, id, body),
    }),
    'DELETE /connections/{id}': routes.endWithMessage({
      description: 'Refused while a scheduled task uses it. It stays readable.',
      decide: archiveConnection,
    }),
  }) satisfies Routes;
