import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { apiInfo, describedApi, operatorInfo } from '@counterfoil/api/info';
import { type DescribedApi, documentsOf } from '@counterfoil/engine';
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

/** The OpenAPI document of an API, from its routes alone: nothing is started. */
const openApiDocument = (api: DescribedApi): object => documentsOf(api)['/openapi.json']();

const json = (document: object): string => `${JSON.stringify(document, null, 2)}\n`;

/** The generated reference: text by name of file. */
export function referenceDocuments(): Readonly<Record<string, string>> {
  const slices = modules({ secrets: null });
  const types = eventTypesOf(slices.flatMap(({ publicEvents }) => publicEvents));
  const api = describedApi(slices);
  const operators = operator({ keyMaterial: null, directory: createDirectory() });
  return {
    'openapi.json': json(openApiDocument(api)),
    'operator-openapi.json': json(openApiDocument({ modules: [operators], info: operatorInfo })),
    'asyncapi.json': json(asyncApiDocument(types, apiInfo.version)),
    'event-schemas.json': json(bodySchemas(types)),
    'problems.md': problemsDocument(),
    'configuration.md': configurationDocument(),
  };
}

/** `counterfoil docs`: writes the reference into a folder. Returns the paths of the files. */
export function writeReference(folder: string): readonly string[] {
  mkdirSync(folder, { recursive: true });
  const documents = Object.entries(referenceDocuments());
  return documents.map(([name, text]) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  });
}
