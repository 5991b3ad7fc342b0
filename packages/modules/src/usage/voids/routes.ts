import { newRecord, type Routes, route } from '@counterfoil/engine/define';
import { invariant, notFound, shiftedBy, textSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { placeOfUsage } from '../queries.ts';
import { refuseDropped } from '../retention/refuse-dropped.ts';
import { hashOfId } from '../usage-event.ts';
import { usageVoid, voidUsage } from './usage-void.ts';

/** Body of POST /events/{event_id}/void. */
const voidUsageSchema = z
  .object({
    reason: textSchema(1024).optional(),
  })
  .meta({ id: 'VoidUsageEvent' });

/** A usage event that counts no more. */
const voidedUsageSchema = z
  .object({
    event_id: z.string(),
    voided_at: z.string().meta({ description: 'When it was voided' }),
    reason: z.string().nullable(),
  })
  .meta({ id: 'VoidedUsageEvent' });

/** The route by which usage is taken back. */
export const usageVoidRoutes = {
  'POST /events/{event_id}/void': route({
    summary: 'Void a usage event',
    description:
      'It counts no more, at any time, and its id stays taken. Another void of it changes nothing.',
    operationId: 'voidUsageEvent',
    tag: 'Usage',
    status: 200,
    permission: 'event:write',
    params: z.object({ event_id: z.string().min(1).max(255) }),
    body: voidUsageSchema,
    bodyOptional: true,
    response: voidedUsageSchema,
    example: {
      params: { event_id: newRecord('usage') },
      body: { reason: 'Sent by a test' },
    },
    handle: async (context, { params: { event_id }, body }) => {
      const id = hashOfId(event_id);
      const place = await placeOfUsage(context, event_id);
      if (!place) throw notFound('usage event', event_id);
      // Its hour could not be counted again. What is void already stays so.
      if (!(await context.recalled.load(usageVoid, id))) {
        const span = { start: place.at, end: shiftedBy(place.at, 1) };
        await refuseDropped(context, { eventName: null, spans: [span] });
      }
      const { state } = await context.execute(
        usageVoid,
        id,
        voidUsage(event_id, body.reason ?? null),
      );
      invariant(state, `${event_id} was voided and is not`);
      return state;
    },
  }),
} satisfies Routes;
