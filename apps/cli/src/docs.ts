import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { apiInfo, describedApi, operatorInfo } from '@counterfoil/api/info';
import { createHttpServer, createLog, createMetrics, type HttpOptions } from '@counterfoil/engine';
import { BrokenInvariant } from '@counterfoil/kernel';
import {
  asyncApiDocument,
  bodySchemas,
  createDirectory,
  eventTypesOf,
  modules,
  operator,
} from '@counterfoil/modules';
import { configurationDocument } from './docs/configuration.ts';
import { problemsDocument } from './docs/problems.ts';

/** The folder of the generated reference. */
export const referenceFolder = resolve(import.meta.dirname, '../../../docs/reference');

const neverCalled = (): never => {
  throw new BrokenInvariant('the server of the documentation was asked to handle a request');
};

/** The OpenAPI document of a server, from its routes alone: nothing is started. */
async function openApiDocument(served: Pick<HttpOptions, 'modules' | 'info'>): Promise<object> {
  const server = createHttpServer({
    ...served,
    host: { begin: neverCalled },
    authenticate: neverCalled,
    health: [],
    metrics: createMetrics({ processMetrics: false }),
    log: createLog({ level: 'silent', name: 'docs' }),
  });
  const document = server.openapi();
  await server.close(0);
  return document;
}

const json = (document: object): string => `${JSON.stringify(document, null, 2)}\n`;

/** The generated reference: text by name of file. */
export async function referenceDocuments(): Promise<Readonly<Record<string, string>>> {
  const slices = modules({ secrets: null });
  const types = eventTypesOf(slices.flatMap(({ publicEvents }) => publicEvents));
  const api = describedApi(slices);
  const operators = operator({ keyMaterial: null, directory: createDirectory() });
  return {
    'openapi.json': json(await openApiDocument(api)),
    'operator-openapi.json': json(
      await openApiDocument({ modules: [operators], info: operatorInfo }),
    ),
    'asyncapi.json': json(asyncApiDocument(types, apiInfo.version)),
    'event-schemas.json': json(bodySchemas(types)),
    'problems.md': problemsDocument(),
    'configuration.md': configurationDocument(),
  };
}

/** `counterfoil docs`: writes the reference into a folder. Returns the paths of the files. */
export async function writeReference(folder: string): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true });
  const documents = Object.entries(await referenceDocuments());
  return documents.map(([name, text]) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  });
}
