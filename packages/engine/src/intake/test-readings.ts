import { z } from 'zod';
import { type FactTables, intake } from '../define/intake.ts';

/** Tables of facts that are filled with nothing, for tests of what stands around them. */
export const readings: FactTables = {
  name: 'readings',
  version: 1,
  intake: intake({ name: 'readings', eventType: 'ReadingsRecorded', fact: z.unknown() }),
  records: [],
  create: () => [],
  filler: () => ({ take: async () => undefined, forget: () => undefined }),
  compared: {},
};
