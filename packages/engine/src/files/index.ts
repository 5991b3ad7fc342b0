export { createFileStore, type FileStoreOptions, type OpenFileStore } from './file-store.ts';
