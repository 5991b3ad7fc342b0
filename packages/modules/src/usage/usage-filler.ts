import {
  arrayText,
  copyLine,
  type Filler,
  type FillSession,
  type RecordChange,
  type RecordedFacts,
} from '@counterfoil/engine/define';
import { invariant, type Stamped } from '@counterfoil/kernel';
import type { CustomerEvent } from '../customers/index.ts';
import type { MeterEvent } from '../meters/index.ts';
import type { UsageAlertEvent } from './alerts/usage-alert.ts';
import { type BackfillEvent, fillWaiting, followBackfill } from './backfills/index.ts';
import { isOfBalances } from './balances/watched-balances.ts';
import { type Claim, Dictionary } from './dictionary.ts';
import { definitionIn, type UsageGroupingEvent } from './groupings/usage-grouping.ts';
import { type Month, monthOf, monthTextOf } from './month.ts';
import { type PlacedUsage, placedIn } from './placed-usage.ts';
import { countReserved, placedReservation } from './reservations/follow-reservations.ts';
import { usageReservation } from './reservations/usage-reservation.ts';
import { KeptMonths, type UnkeptUsage } from './retention/kept-months.ts';
import { RollUps, type WrittenEvent } from './roll-ups/index.ts';
import { isRepetition, type UsageEvent } from './usage-event.ts';
import { UsageWatchers } from './usage-watchers.ts';
import { takeOut } from './voids/take-out.ts';
import type { UsageVoidEvent } from './voids/usage-void.ts';
import type { UsageWatchEvent } from './watches/usage-watch.ts';

/**
 * Writes usage into its tables: every id once, the first in the log (D35). What repeats it is left out, and what
 * contradicts it is listed as a conflict.
 */
export class UsageFiller implements Filler<UsageEvent> {
  readonly #session: FillSession;
  readonly #dictionary: Dictionary;
  readonly #rollUps: RollUps;
  readonly #watchers: UsageWatchers;
  readonly #kept: KeptMonths;
  /** The months that have a partition, written as `2026-11`. */
  readonly #months = new Set<string>();

  /** @param only months of which alone events are written and counted; null for all */
  constructor(
    session: FillSession,
    rollUps = new RollUps(session),
    only: ReadonlySet<string> | null = null,
  ) {
    this.#session = session;
    this.#kept = new KeptMonths(session, only);
    this.#dictionary = new Dictionary(session);
    this.#rollUps = rollUps;
    this.#watchers = new UsageWatchers(session);
  }

  /** Fills tables beside with the events of some months, and with what tells which of them count. */
  static ofMonths(session: FillSession, months: readonly string[]): UsageFiller {
    return new UsageFiller(session, new RollUps(session), new Set(months));
  }

  async take(batch: readonly (RecordedFacts<UsageEvent> | RecordChange)[]): Promise<void> {
    await this.#kept.load();
    await this.#watchers.balances.load();
    let placed: PlacedUsage[] = [];
    let claims: Claim[] = [];
    const claim = async () => {
      const together = claims;
      claims = [];
      await this.#claim(together);
    };
    for (const item of batch) {
      if (item.kind === 'record' && isOfBalances(item)) {
        // What usage counts as does not depend on them: usage before and after is written together.
        const environment = await this.#environmentOf(item.environmentId);
        await this.#watchers.balances.follow(item, environment);
        continue;
      }
      const own = claimIn(item);
      if (own) {
        await this.#write(placed);
        placed = [];
        if (claims.some(({ externalId }) => externalId === own.externalId)) await claim();
        claims.push(own);
        continue;
      }
      await claim();
      if (item.kind === 'facts') {
        placed.push(...(await this.#withoutWaiting(placedIn(item))));
        continue;
      }
      if (item.event.aggregate === usageReservation.name) {
        placed.push(placedReservation(item));
        continue;
      }
      // Events belong to the customer who had the external id when they came.
      await this.#write(placed);
      placed = [];
      await this.#follow(item);
    }
    await claim();
    await this.#write(placed);
    await this.#watchers.balances.mark();
  }

  passesBy(aggregate: string, type: string): boolean {
    return this.#watchers.balances.passesBy(aggregate, type);
  }

  forget(): void {
    this.#dictionary.forget();
    this.#rollUps.forget();
    this.#watchers.forget();
    this.#kept.forget();
    this.#months.clear();
  }

  get hasMore(): boolean {
    return this.#rollUps.hasMore;
  }

  tend(): Promise<void> {
    return this.#rollUps.tend();
  }

  async #follow({ tenantId, environmentId, event }: RecordChange): Promise<void> {
    const id = event.aggregate_id;
    const { position } = event;
    switch (event.aggregate) {
      case 'meter': {
        const environment = await this.#environmentOf(environmentId);
        const change = { environment, id, position, event: event as unknown as MeterEvent };
        await this.#rollUps.follow(change);
        return await this.#watchers.alerts.meterChanged(id);
      }
      case 'usage_void': {
        const environment = await this.#environmentOf(environmentId);
        const { data, stamp } = event as unknown as Stamped<UsageVoidEvent>;
        const { event_id: eventId, reason } = data;
        const voided = { environment, eventId, reason, position, voidedAt: stamp.occurred_at };
        const tools = { session: this.#session, rollUps: this.#rollUps, kept: this.#kept };
        const gone = await takeOut(tools, voided);
        if (gone)
          await this.#watchers.touch({ accounts: new Set([gone.account]), events: () => [gone] });
        return;
      }
      case 'usage_grouping': {
        const environment = await this.#environmentOf(environmentId);
        const { type, data } = event as unknown as Stamped<UsageGroupingEvent>;
        const isKept = type === 'UsageGroupingKept';
        const definition = definitionIn(data);
        return await this.#rollUps.followGrouping({ environment, position, definition, isKept });
      }
      case 'usage_alert': {
        const environment = await this.#environmentOf(environmentId);
        const place = { tenantId, environmentId, environment, id };
        return await this.#watchers.alerts.follow({
          ...place,
          event: event as unknown as UsageAlertEvent,
        });
      }
      case 'usage_watch': {
        const watch = event as unknown as UsageWatchEvent;
        return await this.#watchers.watches.follow({ tenantId, environmentId, id, event: watch });
      }
      case 'usage_backfill': {
        const environment = await this.#environmentOf(environmentId);
        const recorded = event as unknown as Stamped<BackfillEvent>;
        const change = { environment, environmentId, id, position, event: recorded };
        return await followBackfill(this.#session, change, (placed) => this.#write(placed));
      }
      default:
        await this.#followCustomer(environmentId, id, event as unknown as CustomerEvent);
        return await this.#watchers.customersChanged([id]);
    }
  }

  /** Lets the events of backfills wait, and gives the others. */
  async #withoutWaiting(placed: readonly PlacedUsage[]): Promise<readonly PlacedUsage[]> {
    const [first] = placed;
    const waiting = placed.filter(({ event }) => event.backfill_id !== undefined);
    if (!first || waiting.length === 0) return placed;
    await fillWaiting(this.#session, await this.#environmentOf(first.environmentId), waiting);
    return placed.filter(({ event }) => event.backfill_id === undefined);
  }

  async #environmentOf(environmentId: string): Promise<number> {
    const environments = await this.#dictionary.environments([{ environmentId }]);
    const environment = environments.get(environmentId);
    invariant(environment !== undefined, `${environmentId} has no number`);
    return environment;
  }

  async #followCustomer(environmentId: string, id: string, change: CustomerEvent): Promise<void> {
    switch (change.type) {
      case 'CustomerCreated':
        // It was taken with the others that came with it.
        return;
      case 'CustomerUpdated': {
        const { external_id } = change.data.changes;
        if (external_id === undefined) return;
        await this.#dictionary.release(environmentId, id);
        return await this.#dictionary.claim([claimOf(environmentId, id, external_id)]);
      }
      case 'CustomerArchived':
        return await this.#dictionary.release(environmentId, id);
      default:
        change satisfies never;
    }
  }

  async #claim(claims: readonly Claim[]): Promise<void> {
    if (claims.length === 0) return;
    await this.#dictionary.claim(claims);
    await this.#watchers.customersChanged(claims.map(({ customerId }) => customerId));
  }

  async #write(placed: readonly PlacedUsage[]): Promise<void> {
    if (placed.length === 0) return;
    const environments = await this.#dictionary.environments(placed);
    const numberOf = ({ environmentId }: PlacedUsage): number => {
      const number = environments.get(environmentId);
      invariant(number !== undefined, `${environmentId} has no number`);
      return number;
    };
    const identified = await this.#identify(placed, numberOf);
    const fateOf = ({ event }: PlacedUsage) => this.#kept.fateOf(event.timestamp);
    const fresh = identified.filter((one) => fateOf(one) !== 'left');
    if (fresh.length === 0) return;
    await this.#makeMonths(fresh.filter((one) => fateOf(one) === 'kept'));
    const accounts = await this.#dictionary.accounts(fresh, numberOf);
    const names = await this.#dictionary.names(fresh, numberOf);
    const unkept: UnkeptUsage[] = [];
    const places: string[] = [];
    const lines = fresh.flatMap((one, index) => {
      const { event, properties, position, number } = one;
      const { event_id, timestamp, source = null } = event;
      if (fateOf(one) === 'dropped') {
        const name = names[index];
        invariant(name !== undefined, `${event_id} has no name`);
        unkept.push({ environment: numberOf(one), name, at: timestamp });
        return [];
      }
      places.push(`${accounts[index]} ${names[index]}`);
      return copyLine([
        numberOf(one),
        accounts[index] ?? null,
        names[index] ?? null,
        timestamp,
        position,
        one.recordedAt,
        number,
        event_id,
        source,
        properties,
      ]);
    });
    await this.#session.copy('event', eventColumns, sideBySide(lines, places));
    await this.#kept.note(unkept);
    await countReserved(this.#session, fresh, numberOf);
    const written = () => writtenOf(fresh, accounts, numberOf);
    await this.#rollUps.count(written());
    await this.#watchers.touch({ accounts: new Set(accounts), events: written });
  }

  /** Notes the ids that are new, and gives the events that were the first under theirs. */
  async #identify(
    placed: readonly PlacedUsage[],
    numberOf: (one: PlacedUsage) => number,
  ): Promise<readonly PlacedUsage[]> {
    const { schema } = this.#session;
    const { count } = await this.#session.query(
      `insert into ${schema}.identity (environment, id, content, at, position, number)
       select * from unnest($1::int[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::bigint[], $6::int[])
           on conflict do nothing`,
      [
        arrayText(placed.map(numberOf)),
        arrayText(placed.map(({ identity }) => identity.id)),
        arrayText(placed.map(({ identity }) => identity.content)),
        arrayText(placed.map(({ event }) => event.timestamp)),
        arrayText(placed.map(({ position }) => position)),
        arrayText(placed.map(({ number }) => number)),
      ],
    );
    return count === placed.length ? placed : await this.#sortOut(placed, numberOf);
  }

  /** Some ids were there before: finds out which, and lists those that contradict the first. */
  async #sortOut(
    placed: readonly PlacedUsage[],
    numberOf: (one: PlacedUsage) => number,
  ): Promise<readonly PlacedUsage[]> {
    const { schema } = this.#session;
    const { rows } = await this.#session.query<Known>(
      `select stored.environment, replace(stored.id::text, '-', '') as id,
              replace(stored.content::text, '-', '') as content, stored.at as timestamp,
              stored.position, stored.number
         from unnest($1::int[], $2::uuid[]) as asked (environment, id)
         join ${schema}.identity as stored using (environment, id)`,
      [arrayText(placed.map(numberOf)), arrayText(placed.map(({ identity }) => identity.id))],
    );
    const known = new Map(rows.map((row) => [`${row.environment} ${row.id}`, row]));
    const fresh: PlacedUsage[] = [];
    const conflicts: string[] = [];
    for (const one of placed) {
      const { event, identity, position, number } = one;
      const first = known.get(`${numberOf(one)} ${identity.id}`);
      invariant(first, `${event.event_id} was not noted`);
      if (first.position === position && first.number === number) fresh.push(one);
      else if (!isRepetition(first, identity, event)) {
        conflicts.push(copyLine([numberOf(one), position, number, event.event_id]));
      }
    }
    await this.#session.copy('conflict', conflictColumns, conflicts);
    return fresh;
  }

  /** Makes the partitions that are missing. */
  async #makeMonths(placed: readonly PlacedUsage[]): Promise<void> {
    const months = new Map<string, Month>();
    for (const { event, recordedAt } of placed) {
      const text = monthTextOf(event.timestamp);
      if (this.#months.has(text) || months.has(text)) continue;
      const month = monthOf(event.timestamp, recordedAt);
      if (month) months.set(text, month);
    }
    const { schema } = this.#session;
    for (const [text, { name, from, to }] of months) {
      await this.#session.query(
        `create table if not exists ${schema}.${name} partition of ${schema}.event
           for values from ('${from}') to ('${to}')`,
      );
      this.#months.add(text);
    }
  }
}

interface Known {
  readonly environment: number;
  readonly id: string;
  readonly content: string;
  readonly timestamp: UsageEvent['timestamp'];
  readonly position: string;
  readonly number: number;
}

const claimOf = (environmentId: string, customerId: string, externalId: string): Claim => ({
  environmentId,
  externalId,
  customerId,
});

/** The claim of a customer who is new; null for anything else. Those of one batch are taken together. */
function claimIn(item: RecordedFacts<UsageEvent> | RecordChange): Claim | null {
  if (item.kind === 'facts' || item.event.aggregate !== 'customer') return null;
  const event = item.event as unknown as CustomerEvent;
  if (event.type !== 'CustomerCreated') return null;
  return claimOf(item.environmentId, item.event.aggregate_id, event.data.external_id);
}

/**
 * Lines of one place side by side, so that the events of a customer stand in few pages: to fetch them from among those of
 * others is most of what a question about many of them costs.
 */
function sideBySide(lines: readonly string[], places: readonly string[]): readonly string[] {
  const ofPlace = Map.groupBy(lines.keys(), (index) => places[index]);
  return [...ofPlace.values()].flat().map((index) => lines[index] ?? '');
}

function* writtenOf(
  fresh: readonly PlacedUsage[],
  accounts: readonly string[],
  numberOf: (one: PlacedUsage) => number,
): Generator<WrittenEvent> {
  for (const [index, one] of fresh.entries()) {
    const { event, position, number } = one;
    const account = accounts[index];
    invariant(account !== undefined, `${event.event_id} has no account`);
    const { event_name: eventName, timestamp: at, properties = {} } = event;
    yield { environment: numberOf(one), eventName, account, at, position, number, properties };
  }
}

const eventColumns = [
  ...['environment', 'account', 'name', 'at', 'position', 'recorded_at', 'number', 'event_id'],
  ...['source', 'properties'],
];
const conflictColumns = ['environment', 'position', 'number', 'event_id'];
