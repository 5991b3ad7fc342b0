import type { RequestContext } from '@counterfoil/engine/define';
import { decimal } from '@counterfoil/kernel';
import { spanOfLimit } from '../entitlements/index.ts';
import {
  type PlainUsage,
  plainUsage,
  reservationId,
  reservedSums,
  usageReservation,
} from '../usage/index.ts';
import type { GrantedUse } from './check.ts';

/** A limit that several use up together has one reservation for all of them, under the subscription that it is of. */
export const reservationOf = (use: GrantedUse): string =>
  reservationUnder(use, use.shared?.subscription_id ?? use.customer.id);

const reservationUnder = ({ feature, period }: GrantedUse, holderId: string): string =>
  reservationId({
    holderId,
    featureId: feature.id,
    periodStart: period.end === null ? null : period.start,
  });

/** The use of the period of a limit that came by no reservation of it, of all who use it up together. */
export async function plainUse(
  context: RequestContext,
  use: GrantedUse,
  reservation: string,
): Promise<PlainUsage> {
  const { customer, counted, period, shared } = use;
  const read = () =>
    plainUsage(
      context,
      {
        ...{ customer, counting: counted, period: spanOfLimit(period), now: context.now },
        users: shared?.users ?? null,
      },
      reservation,
    );
  const owner = firstSharedIn(use);
  if (owner === null) return read();
  // What the owner was let through before anybody shared the limit is plain as soon as it is counted.
  const own = reservationUnder(use, owner);
  const before = await reservedSums(context, own);
  const { reserved } = await context.load(usageReservation, own);
  const plain = await read();
  const after = await reservedSums(context, own);
  return {
    ...plain,
    least: plain.least.plus(decimal(reserved).minus(after.counted)),
    most: plain.most.plus(decimal(reserved).minus(before.counted)),
  };
}

/** The customer whose subscription others began to inherit within the period that runs, of whom none did before; else null. */
function firstSharedIn({ shared, period }: GrantedUse): string | null {
  const [owner, ...others] = shared?.users ?? [];
  const isOlder = others.some(({ since }) => since === null || since <= period.start);
  return owner && !isOlder ? owner.customer_id : null;
}
