import { canonicalJson, type GroupId, type Instant, type PriceId } from '@counterfoil/kernel';
import {
  chainOf,
  createPriceSchema,
  createPrices,
  endPrice,
  type PriceDraft,
  type PriceRecord,
  priceDraft,
  updatePrice,
} from '../offers/index.ts';
import type { PriceUnitRecord } from '../pricing-units/index.ts';
import { differences, refuseUnknown, withIds } from './entry.ts';
import { inTextOrder } from './keys.ts';
import {
  currentPrices,
  priceEntry,
  priceFields,
  priceLabels,
  priceReferences,
} from './offer-entries.ts';
import type { Asked, OfferPlan } from './plan-offer.ts';
import type { Entry } from './schema.ts';

/** A price as the document says it. */
interface Wanted {
  readonly draft: PriceDraft;
  readonly entry: Entry;
  readonly pointer: string;
}

/** A price that is in force or will be. */
interface Current {
  readonly price: PriceRecord;
  readonly entry: Entry;
}

/** A price that is to go on, as another text or with another end. */
interface Kept {
  readonly current: Current;
  readonly wanted: Wanted;
}

/** The plan for the prices that have one lookup_key, or for one that has none. */
interface Schedule {
  readonly kept: readonly Kept[];
  readonly ended: readonly Current[];
  readonly created: readonly Wanted[];
  /** The chain of re-pricings that the created ones go on; null when they begin one. */
  readonly chain: string | null;
}

/**
 * Decides on the prices of an offer. Those with one lookup_key are one schedule, which is brought
 * in line with the document; others are found by all their fields. Ends come before creations. A
 * price that has ended has nothing left to do.
 */
export function planPrices(plan: OfferPlan, asked: readonly Asked[]): void {
  const { names, at, prune, faults } = plan.around;
  const wanted = asked.flatMap(({ entry, pointer }) => {
    const draft = faults.at(pointer, () => draftOf(plan, { entry, pointer }));
    const isOver = draft?.end_date !== null && (draft?.end_date ?? at) <= at;
    return draft && !isOver ? [{ draft, pointer, entry: priceEntry(draft, names, at) }] : [];
  });
  const left = new Set<Current>(
    currentPrices(plan.offer, at).map((price) => ({ price, entry: priceEntry(price, names, at) })),
  );
  const schedules = [...keyedSchedules(plan, wanted, left), ...plainSchedules(wanted, left)];
  for (const schedule of schedules) endReplaced(plan, schedule);
  for (const current of prune ? left : []) {
    plan.note(`price ${labelOf(current.entry)}: ended`, endPrice(current.price.id, null));
  }
  for (const { kept } of schedules) for (const each of kept) keep(plan, each);
  for (const schedule of schedules) create(plan, schedule);
}

/** Takes the first item that fits out of a set; undefined when none does. */
function takeFirst<Item>(items: Set<Item>, fits: (item: Item) => boolean): Item | undefined {
  for (const item of items) {
    if (!fits(item)) continue;
    items.delete(item);
    return item;
  }
  return undefined;
}

const startOf = ({ start_date }: { readonly start_date: Instant | null }): string =>
  start_date ?? '';

function keyedSchedules(
  plan: OfferPlan,
  wanted: readonly Wanted[],
  left: Set<Current>,
): readonly Schedule[] {
  const groups = new Map<string, Wanted[]>();
  for (const each of wanted) {
    const { lookup_key: key } = each.draft;
    if (key !== null) groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  const currents = new Map<string, Current[]>();
  for (const each of left) {
    const { lookup_key: key } = each.price;
    if (key === null || !groups.has(key)) continue;
    currents.set(key, [...(currents.get(key) ?? []), each]);
    left.delete(each);
  }
  return [...groups].flatMap(([key, group]) => {
    const ordered = group.sort((one, other) =>
      inTextOrder(startOf(one.draft), startOf(other.draft)),
    );
    const isRight = refuseOverlaps(plan, ordered);
    return isRight ? [schedule(ordered, currents.get(key) ?? [])] : [];
  });
}

/** Prices with one key that are in force in one time would charge twice. Returns whether there are none. */
function refuseOverlaps({ around }: OfferPlan, ordered: readonly Wanted[]): boolean {
  const faults = around.faults.all.length;
  for (const [index, { draft, pointer }] of ordered.entries()) {
    const before = ordered[index - 1]?.draft;
    if (!before) continue;
    const ends = before.end_date !== null && draft.start_date !== null;
    if (ends && (before.end_date ?? '') <= startOf(draft)) continue;
    const message = 'overlaps another price with this lookup_key';
    around.faults.add(
      `${pointer}/${draft.start_date === null ? 'lookup_key' : 'start_date'}`,
      message,
    );
  }
  return around.faults.all.length === faults;
}

function schedule(wanted: readonly Wanted[], currents: readonly Current[]): Schedule {
  const free = new Set(currents);
  const open = new Set(wanted);
  const kept: Kept[] = [];
  for (const fits of [saysTheSame, endsOtherwise]) {
    for (const each of wanted) {
      if (!open.has(each)) continue;
      const current = takeFirst(free, (other) => fits(other.entry, each.entry));
      if (!current) continue;
      open.delete(each);
      kept.push({ current, wanted: each });
    }
  }
  const first = currents[0]?.price;
  return { kept, ended: [...free], created: [...open], chain: first ? chainOf(first) : null };
}

/** Prices without a key, one schedule each: found by all that they say, else by all but their end. */
function plainSchedules(wanted: readonly Wanted[], left: Set<Current>): readonly Schedule[] {
  const plain = wanted.filter(({ draft }) => draft.lookup_key === null);
  const found = new Map<Wanted, Current>();
  match(plain, left, found, textOf);
  match(
    plain.filter(({ entry }) => entry.end_date !== undefined),
    left,
    found,
    textWithoutEnd,
  );
  return plain.map((each) => {
    const current = found.get(each);
    const kept = current ? [{ current, wanted: each }] : [];
    return { kept, ended: [], created: current ? [] : [each], chain: null };
  });
}

const textOf = (entry: Entry): string => canonicalJson(entry);
const textWithoutEnd = ({ end_date: _end, ...entry }: Entry): string => canonicalJson(entry);

/** Finds for each that has none yet a price with the same text, and takes it out of those that are left. */
function match(
  wanted: readonly Wanted[],
  left: Set<Current>,
  found: Map<Wanted, Current>,
  text: (entry: Entry) => string,
): void {
  const open = wanted.filter((each) => !found.has(each));
  if (open.length === 0) return;
  const byText = new Map<string, Current[]>();
  for (const current of left) {
    if (current.price.lookup_key !== null) continue;
    const key = text(current.entry);
    const alike = byText.get(key) ?? [];
    alike.push(current);
    byText.set(key, alike);
  }
  for (const each of open) {
    const current = byText.get(text(each.entry))?.shift();
    if (!current) continue;
    left.delete(current);
    found.set(each, current);
  }
}

const saysTheSame = (before: Entry, after: Entry): boolean =>
  differences(before, after).every((name) => priceLabels.includes(name));

/** An end can be set and moved, but not taken back: then another price begins. */
const endsOtherwise = (before: Entry, after: Entry): boolean =>
  after.end_date !== undefined &&
  differences(before, after).every((name) => name === 'end_date' || priceLabels.includes(name));

/** Those that the document has others for, or not any more. */
function endReplaced(plan: OfferPlan, { ended, created }: Schedule): void {
  const { faults } = plan.around;
  for (const [index, { price, entry }] of ended.entries()) {
    const successor = created[index];
    const label = `price ${labelOf(entry)}`;
    faults.at(successor?.pointer ?? '', () => plan.run(endPrice(price.id, null)));
    const what = successor ? differences(entry, successor.entry).join(', ') : 'ended';
    plan.details.push(`${label}: ${what}`);
  }
}

function keep(plan: OfferPlan, { current, wanted }: Kept): void {
  const { draft, entry, pointer } = wanted;
  const { lookup_key, display_name, description, group_id, metadata } = draft;
  const { id } = current.price;
  const label = `price ${labelOf(entry)}`;
  const labels = { lookup_key, display_name, description, group_id, metadata };
  plan.around.faults.at(pointer, () =>
    plan.note(
      `${label}: texts`,
      updatePrice(id, labels as typeof labels & { group_id: GroupId | null }),
    ),
  );
  if (draft.end_date === null || draft.end_date === current.price.end_date) return;
  plan.around.faults.at(pointer, () =>
    plan.note(`${label}: end_date`, endPrice(id, draft.end_date)),
  );
}

function create(plan: OfferPlan, { ended, created, chain }: Schedule): void {
  let parent = chain as PriceId | null;
  for (const [index, { draft, entry, pointer }] of created.entries()) {
    if (!ended[index]) plan.details.push(`price ${labelOf(entry)}: created`);
    const chained = { ...draft, parent_price_id: parent };
    plan.around.faults.at(pointer, () => plan.run(createPrices(plan.owner, [chained], [pointer])));
    parent ??= plan.offer.prices.at(-1)?.id ?? null;
  }
}

/** Returns a name for a price that people understand, with its start if it has not begun. */
function labelOf({ lookup_key, display_name, meter, type, start_date }: Entry): string {
  const label = String(lookup_key ?? display_name ?? meter ?? type);
  return start_date === undefined ? label : `${label} from ${start_date}`;
}

/** Reads an entry of the document as a price. */
function draftOf({ around, owner }: OfferPlan, { entry, pointer }: Asked): PriceDraft {
  const { names, faults, records } = around;
  refuseUnknown(entry, [...priceFields, ...Object.keys(priceReferences)], { faults, pointer });
  const fields = withIds(entry, priceReferences, { names, faults, pointer });
  const request = createPriceSchema.parse({ ...fields, ...owner });
  const group = records.get(request.group_id ?? '') as { entity_type?: string } | undefined;
  if (group && group.entity_type !== 'price') {
    faults.add(`${pointer}/group`, 'is no group of prices');
  }
  const code = request.price_unit_config?.price_unit;
  if (code === undefined) return priceDraft(request, owner, null, pointer);
  const unitId = names.pricing_units.idOf(code.toLowerCase()) ?? '';
  const unit = records.get(unitId) as PriceUnitRecord | undefined;
  const unitPointer = `${pointer}/price_unit_config/price_unit`;
  if (!unit) faults.add(unitPointer, 'names nothing in pricing_units');
  else if (unit.base_currency !== request.currency) {
    faults.add(`${pointer}/currency`, `the pricing unit is in ${unit.base_currency}`);
  }
  return priceDraft(request, owner, unit ?? null, pointer);
}
