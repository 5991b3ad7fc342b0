import { createdStamps, type RecordStamps, type Stamp } from '@counterfoil/kernel';

/** Stamps of a record that belongs to the tenant as a whole and to no environment. */
export type TenantStamps = Omit<RecordStamps, 'environment_id'>;

/** The stamps of such a record that the event has just created. */
export const createdTenantStamps = (stamp: Stamp): TenantStamps => {
  const { environment_id: _, ...stamps } = createdStamps(stamp);
  return stamps;
};
