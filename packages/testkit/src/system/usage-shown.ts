import { eventually } from '../eventually.ts';
import type { TestTenant } from '../stack.ts';

/** Waits until usage can be read: its tables are made and filled when a stack has started. */
export async function untilUsageIsShown(tenant: TestTenant): Promise<void> {
  const isShown = async () => (await tenant.call('GET', '/events')).status === 200;
  await eventually(isShown, () => 'the tables of usage never came', 60_000);
}
