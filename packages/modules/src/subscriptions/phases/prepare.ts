import type { RequestContext } from '@counterfoil/engine/define';
import {
  type Instant,
  invalidField,
  invalidOperation,
  type PhaseId,
  sequencedId,
} from '@counterfoil/kernel';
import type { OrderedLine } from '../creation/ordered-line.ts';
import { overriding } from '../creation/override-entitlements.ts';
import { type LineHost, linesOfStretch } from '../creation/stretch-lines.ts';
import type { Granted } from '../entitlements/granted.ts';
import type { CreateSubscription, OverrideLine, PhaseBody } from '../schema.ts';
import type { PhaseData } from './phase.ts';

/** A subscription that phases are ordered for. */
export interface PhaseHost extends LineHost {
  /** The entitlements that it has in all phases. */
  readonly granted: readonly Granted[];
  /** Overrides of lines that hold where a phase has none for the same price. */
  readonly overrides: readonly OverrideLine[];
}

/** A phase with the lines that it brings. */
export interface OrderedPhase {
  readonly phase: PhaseData;
  readonly lines: readonly OrderedLine[];
}

interface Place {
  readonly id: PhaseId;
  readonly is_first: boolean;
  readonly pointer: string;
}

/** A phase as it is ordered, after everything that it refers to was found in the log (E 10.8). */
export async function orderedPhase(
  context: RequestContext,
  host: PhaseHost,
  body: PhaseBody,
  { id, is_first, pointer }: Place,
): Promise<OrderedPhase> {
  const { start_date } = body;
  const end_date = body.end_date ?? null;
  if (end_date !== null && end_date <= start_date) {
    throw invalidField(`${pointer}/end_date`, 'must be after the start of the phase');
  }
  const own = body.override_line_items ?? [];
  const general = host.overrides.filter(
    ({ price_id }) => !own.some((each) => each.price_id === price_id),
  );
  const { granted } = host;
  const ent = { now: context.now, id: host.id, owner: id, granted, pointer };
  return {
    phase: {
      id,
      start_date,
      end_date,
      metadata: body.metadata ?? {},
      entitlements: overriding(ent, body.override_entitlements ?? []),
    },
    lines: await linesOfStretch(context, host, {
      owner: id,
      start: start_date,
      phase: { id, end: end_date, is_first },
      has_plan: true,
      overrides: [...own, ...general],
      line_items: body.line_items ?? [],
      pointer,
    }),
  };
}

/** The phases that a subscription is created with: one follows on another, from its start to its end. */
export async function orderedPhases(
  context: RequestContext,
  host: PhaseHost,
  { phases }: Pick<CreateSubscription, 'phases'>,
): Promise<readonly OrderedPhase[]> {
  const all: OrderedPhase[] = [];
  for (const [index, body] of (phases ?? []).entries()) {
    const id = sequencedId('phase', context.now, host.id, index);
    const place = { id, is_first: index === 0, pointer: `/phases/${index}` };
    all.push(await orderedPhase(context, host, body, place));
  }
  return all;
}

/** The start and the end that the phases of a new subscription give it; those that are asked for have to be the same. */
export function spanOfPhases(
  { phases, start_date, end_date, subscription_status }: CreateSubscription,
  now: Instant,
): { readonly start_date: Instant; readonly end_date: Instant | null } {
  const [first] = phases ?? [];
  const last = phases?.at(-1);
  if (!phases || !first || !last) {
    return { start_date: start_date ?? now, end_date: end_date ?? null };
  }
  if (subscription_status === 'draft') {
    throw invalidOperation('A draft has no phases: give them with its activation in mind.', {
      reason: 'unsuitable',
    });
  }
  if (start_date && start_date !== first.start_date) {
    throw invalidField(
      '/phases/0/start_date',
      `must be the start of the subscription, ${start_date}`,
    );
  }
  for (const [index, { start_date: start }] of phases.entries()) {
    const before = phases[index - 1];
    if (!before || before.end_date === start) continue;
    if (!before.end_date) {
      throw invalidField(`/phases/${index - 1}/end_date`, 'is required: another phase follows');
    }
    throw invalidField(
      `/phases/${index}/start_date`,
      `must be the end of the phase before it, ${before.end_date}`,
    );
  }
  const ends = last.end_date ?? null;
  if (end_date && end_date !== ends) {
    throw invalidField(
      `/phases/${phases.length - 1}/end_date`,
      `must be the end of the subscription, ${end_date}`,
    );
  }
  return { start_date: first.start_date, end_date: ends };
}

/** Refuses a phase that would begin in a trial, in which nothing is charged. */
export function assertAfterTrial(
  phases: readonly Pick<PhaseData, 'start_date'>[],
  trialEnd: Instant | null,
  pointer: (place: number) => string,
): void {
  for (const [index, { start_date }] of phases.entries()) {
    if (trialEnd === null || start_date >= trialEnd) continue;
    throw invalidField(pointer(index), `must not lie in the trial, which ends ${trialEnd}`);
  }
}
