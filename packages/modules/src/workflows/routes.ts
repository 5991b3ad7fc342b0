import {
  ofTable,
  pageRequest,
  pageSchema,
  type Routes,
  route,
  searchExample,
  searchFilters,
  searchShape,
  where,
} from '@counterfoil/engine/define';
import { z } from 'zod';
import { workflowSchema, workflowStatusSchema, workflowTypeSchema } from './schema.ts';
import { workflowTable } from './workflows.ts';

const searchSchema = z.object({
  ...searchShape,
  workflow_id: z.string().max(64).optional(),
  workflow_type: workflowTypeSchema.optional(),
  workflow_status: workflowStatusSchema.optional(),
  task_queue: z.string().max(64).optional(),
  entity: z.string().max(64).optional(),
  entity_id: z.string().max(64).optional(),
});

export const workflowRoutes = {
  'POST /workflows/search': route({
    operationId: 'searchWorkflows',
    summary: 'Search work that goes on in the background, and that has ended',
    description:
      'Imports, runs of exports, catalogue imports, synchronisations of plans, backfills and corrections of invoices. The newest first.',
    tag: 'Workflows',
    status: 200,
    permission: 'workflow:read',
    body: ofTable(workflowTable, searchSchema.meta({ id: 'WorkflowSearch' })),
    bodyOptional: true,
    response: pageSchema(workflowSchema),
    example: { body: searchExample, names: { workflow_id: 'task', entity_id: 'task' } },
    handle: async ({ read }, { body: search }) =>
      read.list(workflowTable, pageRequest(workflowTable, search), [
        ...searchFilters(workflowTable, search),
        ...where('id', 'eq', search.workflow_id),
        ...where('workflow_type', 'eq', search.workflow_type),
        ...where('workflow_status', 'eq', search.workflow_status),
        ...where('task_queue', 'eq', search.task_queue),
        ...where('entity', 'eq', search.entity),
        ...where('entity_id', 'eq', search.entity_id),
      ]),
  }),
} satisfies Routes;
