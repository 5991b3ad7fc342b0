import {
  type Aggregate,
  type Decision,
  type EventCatalogue,
  type EventOf,
  type Instant,
  instantOf,
  Problem,
  type ProblemCode,
  RefusedWithEvents,
  type Stamp,
} from '@counterfoil/kernel';
import * as assert from 'uvu/assert';

const firstInstant = Date.parse('2026-01-01T00:00:00.000Z');

/** The stamp of the nth event of a scenario: second by second from the start of 2026. */
export const stampAt = (second: number): Stamp => ({
  tenant_id: 'tenant_01' as Stamp['tenant_id'],
  environment_id: 'env_01' as NonNullable<Stamp['environment_id']>,
  occurred_at: instantOf(firstInstant + second * 1000),
  actor: { user_id: 'user_01' as NonNullable<Stamp['actor']['user_id']>, key_id: null },
});

/** The state after the events, stamped second by second; data is parsed as at an append. */
export const folded = <Catalogue extends EventCatalogue, State>(
  aggregate: Aggregate<string, Catalogue, State>,
  events: readonly EventOf<Catalogue>[],
): State =>
  events.reduce<State>((state, event, second) => {
    const data = aggregate.events[event.type]?.parse(event.data);
    return aggregate.evolve(state, { ...event, data, stamp: stampAt(second) });
  }, aggregate.initial);

/**
 * `given(wallet, [created]).when(debit(…)).then([debited])`, or `.thenProblem(code, pointer)`.
 * The decision is made one second after the last event.
 */
export const given = <Catalogue extends EventCatalogue, State>(
  aggregate: Aggregate<string, Catalogue, State>,
  events: readonly EventOf<Catalogue>[],
) => ({
  when: (decision: Decision<State, EventOf<Catalogue>>) => {
    const at: Instant = stampAt(events.length).occurred_at;
    const decide = () => decision(folded(aggregate, events), at);
    return {
      // biome-ignore lint/suspicious/noThenProperty: it reads given, when, then; nobody awaits it.
      then: (expected: readonly EventOf<Catalogue>[]) => {
        const decided = decide();
        assert.equal(decided, expected);
        folded(aggregate, [...events, ...decided]);
      },
      thenState: (expected: (state: State) => void) =>
        expected(folded(aggregate, [...events, ...decide()])),
      thenProblem: (code: ProblemCode, pointer?: string) => {
        const problem = problemOf(decide);
        assert.is(problem.code, code, problem.message);
        if (pointer !== undefined) assert.is(problem.errors?.[0]?.pointer, pointer);
      },
    };
  },
});

/** The problem that a function throws. Fails when it throws none. */
export function problemOf(decide: () => unknown): Problem {
  try {
    decide();
  } catch (error) {
    if (error instanceof Problem) return error;
    if (error instanceof RefusedWithEvents) return error.problem;
    throw error;
  }
  throw new Error('Expected a problem, but none was thrown');
}

/** The problem that a promise is rejected with. Fails when it is not. */
export async function rejection(answer: Promise<unknown>): Promise<Problem> {
  try {
    await answer;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('Expected a problem, but none was thrown');
}
