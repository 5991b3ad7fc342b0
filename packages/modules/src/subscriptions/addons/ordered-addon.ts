import {
  type AddonAssociationId,
  type AddonId,
  type Instant,
  invalidField,
  laterOf,
  type Metadata,
  type Period,
  sequencedId,
} from '@counterfoil/kernel';
import type { OfferedGrant } from '../creation/offered.ts';
import { lineDates, type OrderedLine } from '../creation/ordered-line.ts';
import type { Granted } from '../entitlements/granted.ts';
import { type GrantData, grantCopyId } from '../grants/grant.ts';
import type { LineData } from '../lines/line.ts';
import { type Periodic, periodContaining } from '../time/cycle.ts';
import type { AddonCadence, AddonData } from './association.ts';

/** An add-on as it is ordered, before it is known when it begins. */
export interface OrderedAddon {
  readonly id: AddonAssociationId;
  readonly addon_id: AddonId;
  readonly addon_name: string;
  readonly cadence: AddonCadence;
  /** Null: with the subscription, or now. */
  readonly start_date: Instant | null;
  /** Its own end; absent: as its cadence says. */
  readonly end_date?: Instant | null;
  readonly metadata: Metadata;
  readonly entitlements: readonly Granted[];
  readonly lines: readonly OrderedLine[];
  readonly grants: readonly OfferedGrant[];
  /** Its place in the request. */
  readonly pointer: string;
}

/** An add-on with all that begins with it. */
export interface BegunAddon {
  readonly addon: AddonData;
  readonly lines: readonly LineData[];
  readonly grants: readonly GrantData[];
}

/** The part of a subscription that the dates of its add-ons follow from. */
export type AddonHost = Periodic & {
  readonly start_date: Instant;
  /** The period that runs; null and absent: none does. */
  readonly opened?: Period | null;
};

/**
 * The dates of an add-on from an instant on. One that is sold once ends with the period that it begins in (E 11.5), or, begun in a trial,
 * with the first one that is charged.
 *
 * @throws a Problem for a start that is not within the subscription
 */
export function addonDates(
  host: AddonHost,
  cadence: AddonCadence,
  start_date: Instant,
  pointer: string,
): Pick<AddonData, 'start_date' | 'end_date'> {
  const { cycle, end_date: last } = host;
  if (start_date < host.start_date) {
    throw invalidField(`${pointer}/start_date`, 'must not be before the subscription starts');
  }
  if (last !== null && start_date >= last) {
    throw invalidField(
      `${pointer}/start_date`,
      `must be before the end of the subscription, ${last}`,
    );
  }
  if (cadence === 'recurring') return { start_date, end_date: null };
  const from = laterOf(start_date, cycle.start);
  const { opened = null } = host;
  // The period that runs may be longer than its number says, by a pause.
  const isRunning = opened !== null && opened.start <= from && from < opened.end;
  return { start_date, end_date: (isRunning ? opened : periodContaining(host, from)).end };
}

/** The dates of the lines and grants of an add-on: nothing is charged or given before the end of a trial. */
export const addonLineDates = (
  host: AddonHost,
  addon: Pick<AddonData, 'start_date' | 'end_date'>,
  line: Pick<OrderedLine, 'price' | 'from'>,
) =>
  lineDates(host, host.timezone, {
    price: line.price,
    from: line.from === null ? addon.start_date : laterOf(line.from, addon.start_date),
    end_date: addon.end_date,
  });

/** An add-on that begins at an instant; ids of its lines and grants follow from its own. */
export function begunAddon(
  host: AddonHost,
  ordered: OrderedAddon,
  { start, at }: { readonly start: Instant; readonly at: Instant },
): BegunAddon {
  const { lines, grants, pointer, end_date, ...terms } = ordered;
  const from = ordered.start_date ?? start;
  const dates =
    end_date === undefined
      ? addonDates(host, ordered.cadence, from, pointer)
      : { start_date: from, end_date };
  const addon = { ...terms, entitlements: [...terms.entitlements], ...dates };
  return {
    addon,
    lines: lines.map(({ from, ...line }, index) => ({
      ...line,
      id: sequencedId('subs_line', at, ordered.id, index),
      addon_association_id: ordered.id,
      is_sold_once: ordered.cadence === 'onetime',
      ...addonLineDates(host, dates, { price: line.price, from }),
    })),
    grants: grants.map((grant) => ({
      ...grant,
      id: grantCopyId(ordered.id, grant.source_id),
      addon_association_id: ordered.id,
      part: null,
      end_date: null,
      start_date: laterOf(dates.start_date, host.cycle.start),
    })),
  };
}
