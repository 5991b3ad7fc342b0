import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import type { Stack, TestTenant } from '../stack.ts';

/** A tenant whose environment has a test clock, and the ways to move it. */
export interface ClockedTenant extends TestTenant {
  /** The path of the clock. */
  readonly path: string;
  /** The clock as the API shows it. */
  clock(): ReturnType<TestTenant['ok']>;
  /** Asks for an advance, and does not wait for it. */
  advance(to: string, options?: object): ReturnType<TestTenant['call']>;
  /** Waits until the clock stands, and gives it. */
  stands(): ReturnType<TestTenant['ok']>;
  /** Advances to an instant and waits until all that was due by then has been done and can be read. */
  moveTo(to: string): Promise<void>;
}

/** An advance of a hundred instants takes its time on a machine that is busy. */
const patience = [() => 'the clock never stood', 60_000] as const;

/** Makes a tenant with a test clock that stands at an instant; the same seed gives the same tenant. */
export async function onTestClock(
  stack: Pick<Stack, 'tenant'>,
  seed: string,
  now: string,
): Promise<ClockedTenant> {
  const tenant = await stack.tenant(seed);
  const path = `/environments/${tenant.environmentId}/clock`;
  const clock = () => tenant.ok('GET', path);
  const advance = (to: string, options: object = {}) =>
    tenant.call('POST', `${path}/advance`, { to, ...options });
  const stands = () =>
    eventually(
      async () => {
        const shown = await clock();
        return shown.state === 'standing' && shown;
      },
      ...patience,
    );
  await tenant.ok('PUT', path, { now });
  return {
    ...tenant,
    path,
    clock,
    advance,
    stands,
    async moveTo(to) {
      const { status, text } = await advance(to);
      assert.is(status, 202, text);
      assert.is((await stands()).now, to);
    },
  };
}
