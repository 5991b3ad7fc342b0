import { z } from 'zod';

/** Answer of a deletion that shows no record (client contract, MSG). */
export const messageSchema = z.object({ message: z.string() }).meta({ id: 'Message' });

/** The answer when a record is gone; `what` names its kind. */
export const deleted = (what: string, id: string): z.output<typeof messageSchema> => ({
  message: `The ${what} ${id} is deleted.`,
});
