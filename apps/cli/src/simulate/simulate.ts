import { followAdvance, type ShownClock } from '../clock/follow-advance.ts';
import { type ApiPlace, bodyOf, callApi } from '../http-api.ts';
import { untilKnown } from '../seed/until-known.ts';
import { OperatorError } from '../settings.ts';
import { type ShownSettlement, timeline } from './timeline.ts';

/** A plan, and the terms of the subscription to it that is lived through. */
export interface Simulation {
  /** The environment whose catalogue is copied. */
  readonly environment: string;
  /** The lookup key of the plan. */
  readonly plan: string;
  readonly from: string;
  readonly to: string;
  readonly currency: string;
  readonly period: string;
  readonly trialDays?: number | undefined;
  readonly cancelAt?: string | undefined;
  readonly prorates: boolean;
}

interface Found {
  readonly id: string;
}

interface ShownSubscription extends Found {
  readonly subscription_status: string;
  readonly cancelled_at?: string | undefined;
  readonly line_items: readonly { readonly id: string; readonly display_name: string }[];
}

/** Settlements that are read at once. */
const pageMaximum = 1000;

/**
 * Lives a subscription through in an environment of its own, a copy of the catalogue with a test clock, and prints what was
 * settled as a timeline. Nothing of the environment that was copied changes.
 *
 * @param rest waits between two looks at the clock
 */
export async function simulate(
  place: ApiPlace,
  simulation: Simulation,
  print: (line: string) => void,
  rest: () => Promise<void>,
): Promise<void> {
  const { plan, from, to, cancelAt } = simulation;
  const { id, inside } = await copiedEnvironment(place, simulation);
  print(`environment ${id}, ${plan} from ${from} to ${to}`);
  const clock = `/environments/${id}/clock`;
  await inside('PUT', clock, { now: from });
  const made = await subscribed(inside, simulation);
  if (cancelAt !== undefined) {
    const body = { cancellation_type: 'scheduled_date', cancel_at: cancelAt };
    await inside('POST', `/subscriptions/${made.id}/cancel`, {
      ...body,
      proration_behavior: prorationOf(simulation),
    });
  }
  await inside('POST', `${clock}/advance`, { to });
  await followAdvance(
    () => inside<ShownClock>('GET', clock),
    () => undefined,
    rest,
  );
  const { subscription_status, cancelled_at, line_items } = await inside<ShownSubscription>(
    'GET',
    `/subscriptions/${made.id}`,
  );
  const lines = timeline({
    currency: simulation.currency,
    settlements: await settlementsOf(inside, made.id),
    names: new Map(line_items.map((line) => [line.id, line.display_name])),
    end: { at: cancelled_at ?? to, status: subscription_status },
  });
  lines.forEach(print);
}

/** Everything that was settled, oldest first. */
async function settlementsOf(inside: Inside, id: string): Promise<ShownSettlement[]> {
  const settlements: ShownSettlement[] = [];
  for (;;) {
    const { items } = await inside<{ items: ShownSettlement[] }>(
      'GET',
      `/subscriptions/${id}/settlements?limit=${pageMaximum}&offset=${settlements.length}`,
    );
    settlements.push(...items);
    if (items.length < pageMaximum) return settlements.reverse();
  }
}

type Inside = <Body>(method: string, path: string, body?: unknown) => Promise<Body>;

const asking =
  (place: ApiPlace): Inside =>
  async <Body>(method: string, path: string, body?: unknown) =>
    bodyOf(await callApi(place, method, path, { body })) as Body;

/** A new development environment with the same catalogue, and a way to ask in it. */
async function copiedEnvironment(
  place: ApiPlace,
  { environment, plan }: Simulation,
): Promise<{ readonly id: string; readonly inside: Inside }> {
  const outside = asking(place);
  const copy = { name: `Simulation of ${plan}`, type: 'development' };
  const { environment_id: id } = await outside<{ environment_id: string }>(
    'POST',
    `/environments/${environment}/clone`,
    copy,
  );
  const key = { name: 'Simulation', type: 'private_key', environment_id: id };
  const { api_key } = await outside<{ api_key: string }>('POST', '/secrets/api/keys', key);
  const inPlace = { ...place, apiKey: api_key };
  await untilKnown(inPlace);
  return { id, inside: asking(inPlace) };
}

async function subscribed(inside: Inside, simulation: Simulation): Promise<Found> {
  const { plan, from, currency, period, trialDays } = simulation;
  const { items } = await inside<{ items: Found[] }>(
    'GET',
    `/plans?lookup_key=${encodeURIComponent(plan)}`,
  );
  const [found] = items;
  if (!found) throw new OperatorError(`There is no plan with the lookup key "${plan}".`);
  await inside('POST', '/customers', { external_id: 'simulated', name: 'Simulated' });
  return inside('POST', '/subscriptions', {
    ...{ external_customer_id: 'simulated', plan_id: found.id, start_date: from, currency },
    ...{ billing_period: period, proration_behavior: prorationOf(simulation) },
    ...(trialDays === undefined ? {} : { trial_period_days: trialDays }),
  });
}

const prorationOf = ({ prorates }: Simulation): string => (prorates ? 'create_prorations' : 'none');
