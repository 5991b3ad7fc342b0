import { newRecord, type RequestContext, type Routes, route } from '@counterfoil/engine/define';
import {
  type EnvironmentId,
  type Instant,
  invalidOperation,
  notFound,
  referenceSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type EnvironmentRecord, environment, refuseUnlessAdmin } from '../tenancy/index.ts';
import type { FollowedClocks } from './clocks.ts';
import { removeClock, requestAdvance, setClock } from './decisions.ts';
import { advanceClockSchema, clockSchema, clockView, setClockSchema } from './schema.ts';
import { testClock } from './test-clock.ts';

const tag = 'Environments';
const params = z.object({ id: referenceSchema('env') });

/** In examples: a development environment, which may be given a test clock. */
const inSandbox = { id: newRecord('sandbox') as EnvironmentId };

/** An environment of the caller's tenant. Throws 404 when there is none. */
async function requireEnvironment(context: RequestContext, id: string): Promise<EnvironmentRecord> {
  const state = await context.load(environment, id);
  if (state?.status !== 'published') throw notFound('environment', id);
  return state;
}

/** Makes sure that the caller may move the clock of an environment, and that it may have one (D78). */
async function requireMovable(context: RequestContext, id: string): Promise<void> {
  refuseUnlessAdmin(context, 'move the clock of an environment');
  const { type } = await requireEnvironment(context, id);
  if (type !== 'production') return;
  throw invalidOperation('A production environment has no test clock. Use a development one.', {
    reason: 'production',
  });
}

/** The routes of the clocks of a tenant's environments. */
export const clockRoutes = (clocks: FollowedClocks) =>
  ({
    'GET /environments/{id}/clock': route({
      summary: 'Get the clock of an environment',
      description: 'What the process that answers goes by, with the progress of an advance.',
      tag,
      status: 200,
      permission: 'environment:read',
      params,
      response: clockSchema,
      handle: async (context, { params: { id } }) => {
        await requireEnvironment(context, id);
        return clockView(id, clocks.stateOf(id), clocks.now(id));
      },
    }),

    'PUT /environments/{id}/clock': route({
      summary: 'Give a development environment a test clock',
      description:
        'For a super_admin. The clock stands at `now`, and moves only by ' +
        '`POST /environments/{id}/clock/advance`.',
      tag,
      status: 200,
      permission: 'environment:write',
      params,
      body: setClockSchema,
      response: clockSchema,
      example: { params: inSandbox, body: { now: '2026-01-31T09:00:00.000Z' as Instant } },
      handle: async (context, { params: { id }, body: { now } }) => {
        await requireMovable(context, id);
        const { state } = await context.execute(testClock, id, setClock(id, now));
        return clockView(id, state, now);
      },
    }),

    'DELETE /environments/{id}/clock': route({
      summary: "Give an environment back to the system's clock",
      description: "For a super_admin. 409 while the system's clock is behind the test clock.",
      tag,
      status: 204,
      permission: 'environment:write',
      params,
      example: { params: inSandbox },
      handle: async (context, { params: { id } }) => {
        await requireMovable(context, id);
        await context.execute(testClock, id, removeClock());
        return undefined;
      },
    }),

    'POST /environments/{id}/clock/advance': route({
      summary: 'Move a test clock to a later instant',
      description:
        'For a super_admin. All that falls due on the way runs, in its order. `GET /environments/{id}/clock` tells the progress.',
      tag,
      status: 202,
      permission: 'environment:write',
      params,
      body: advanceClockSchema,
      response: clockSchema,
      example: {
        params: { id: newRecord('clocked') as EnvironmentId },
        body: { to: '2026-02-28T09:00:00.000Z' as Instant },
      },
      handle: async (context, { params: { id }, body: { to, stop_at_next_effect } }) => {
        await requireMovable(context, id);
        const { state } = await context.execute(
          testClock,
          id,
          requestAdvance(to, stop_at_next_effect),
        );
        return clockView(id, state, to);
      },
    }),
  }) satisfies Routes;
