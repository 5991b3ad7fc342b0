export { createReaders, createReadModel, type Readers, type ReadModel } from './read-model.ts';
export type { ReaderOptions } from './reader.ts';
export { ReaderRoleMissing } from './reader-role.ts';
export * from './streamed-reads.ts';
