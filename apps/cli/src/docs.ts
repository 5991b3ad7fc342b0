import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { apiInfo } from '@counterfoil/api/info';
import {
  createHttpServer,
  createLog,
  createMetrics,
  livePrefix,
  publicSubjects,
} from '@counterfoil/engine';
import { BrokenInvariant } from '@counterfoil/kernel';
import { asyncApiDocument, bodySchemas, eventTypesOf, modules } from '@counterfoil/modules';
import { configurationDocument } from './docs/configuration.ts';
import { problemsDocument } from './docs/problems.ts';

/** The folder of the generated reference. */
export const referenceFolder = resolve(import.meta.dirname, '../../../docs/reference');

const neverCalled = (): never => {
  throw new BrokenInvariant('the server of the documentation was asked to handle a request');
};

/** The OpenAPI document as the API serves it, from its routes alone: nothing is started. */
async function openApiDocument(): Promise<object> {
  const server = createHttpServer({
    modules: modules({ secrets: null }),
    host: { begin: neverCalled },
    authenticate: neverCalled,
    health: [],
    metrics: createMetrics({ processMetrics: false }),
    log: createLog({ level: 'silent', name: 'docs' }),
    info: apiInfo,
  });
  const document = server.openapi();
  await server.close(0);
  return document;
}

const json = (document: object): string => `${JSON.stringify(document, null, 2)}\n`;

const allEventTypes = () =>
  eventTypesOf(modules({ secrets: null }).flatMap(({ publicEvents }) => publicEvents));

/** The public events on NATS, from their definitions alone. */
function publishedDocument(): object {
  const stored = publicSubjects.replace('.>', '');
  const subjects = { stored, live: `${livePrefix}.${stored}` };
  const info = { title: 'Counterfoil events', version: apiInfo.version };
  return asyncApiDocument(allEventTypes(), info, subjects);
}

/** The generated reference: text by name of file. */
export async function referenceDocuments(): Promise<Readonly<Record<string, string>>> {
  return {
    'openapi.json': json(await openApiDocument()),
    'asyncapi.json': json(publishedDocument()),
    'event-schemas.json': json(bodySchemas(allEventTypes())),
    'problems.md': problemsDocument(),
    'configuration.md': configurationDocument(),
  };
}

/** `counterfoil docs`: writes the reference into a folder. Gives the paths of the files. */
export async function writeReference(folder: string): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true });
  const documents = Object.entries(await referenceDocuments());
  return documents.map(([name, text]) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  });
}
