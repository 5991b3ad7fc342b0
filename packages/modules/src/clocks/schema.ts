import { type Instant, instantSchema, withoutNulls } from '@counterfoil/kernel';
import { z } from 'zod';
import { advanceOf, type TestClockState } from './test-clock.ts';

export const setClockSchema = z.object({ now: instantSchema }).meta({ id: 'SetClock' });

export const advanceClockSchema = z
  .object({
    to: instantSchema.meta({ description: 'At most 20 years on' }),
    stop_at_next_effect: z
      .boolean()
      .default(false)
      .meta({ description: 'True to stand at the first instant at which something is due' }),
  })
  .meta({ id: 'AdvanceClock' });

const progressSchema = z
  .object({
    from: instantSchema,
    to: instantSchema,
    stop_at_next_effect: z.boolean(),
    effects: z.number().int().meta({ description: 'Due work that has changed something' }),
    ended: z
      .enum(['reached', 'effect', 'failed'])
      .optional()
      .meta({ description: 'Why it ended; absent while it is under way' }),
    failure: z.string().optional().meta({ description: 'What kept it from going on' }),
  })
  .meta({ id: 'ClockProgress' });

export const clockSchema = z
  .object({
    environment_id: z.string(),
    state: z
      .enum(['system', 'standing', 'advancing'])
      .meta({ description: "`system`: the environment has the system's clock" }),
    now: instantSchema.meta({ description: 'The present instant of the environment' }),
    progress: progressSchema
      .optional()
      .meta({ description: 'Of the advance that is under way, else of the last one' }),
  })
  .meta({ id: 'Clock' });

/** The clock of an environment as the API shows it; `now` is for one that has the system's. */
export function clockView(
  environment_id: string,
  state: TestClockState,
  now: Instant,
): z.output<typeof clockSchema> {
  if (!state?.now) return { environment_id, state: 'system', now };
  const shown = advanceOf(state) ? 'advancing' : 'standing';
  const progress = state.progress && withoutNulls(state.progress);
  return withoutNulls({ environment_id, state: shown, now: state.now, progress } as const);
}
