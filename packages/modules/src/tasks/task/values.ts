import { z } from 'zod';

/** The direction of a task: into the service, or out of it. */
export const taskTypeSchema = z.enum(['IMPORT', 'EXPORT']);
export type TaskType = z.output<typeof taskTypeSchema>;

/** The states of a task, those of the published clients (D84). */
export const taskStatusSchema = z.enum(['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED']);
export type TaskStatus = z.output<typeof taskStatusSchema>;

/** The records that a file may bring. */
export const importedEntitySchema = z.enum(['CUSTOMERS', 'EVENTS', 'PRICES']);
export type ImportedEntity = z.output<typeof importedEntitySchema>;

/** The form of a file: JSON is a list of objects, or an object on each line (D82). */
export const fileTypeSchema = z.enum(['CSV', 'NDJSON', 'JSON']);
export type FileType = z.output<typeof fileTypeSchema>;

/** The fate of a row whose record is there with other contents (D85). */
export const onExistingSchema = z.enum(['refuse', 'update']);
export type OnExisting = z.output<typeof onExistingSchema>;
