import type { RequestContext } from '@counterfoil/engine/define';
import {
  type CatalogImportId,
  invariant,
  Problem,
  type Stamp,
  sequencedId,
} from '@counterfoil/kernel';
import { type Offer, offer } from '../offers/index.ts';
import type { AnyRecord } from '../record/index.ts';
import type { Step } from './catalog-import.ts';
import { differences, entryOf, Faults, refuseUnknown, withIds } from './entry.ts';
import { naturalKeys } from './keys.ts';
import { type Kind, kinds } from './kinds.ts';
import { planBytesMaximum, refuseTooLarge, stepBytesMaximum } from './limits.ts';
import { type OfferKind, offerKinds } from './offer-kinds.ts';
import { planEntitlements } from './plan-entitlements.ts';
import { planCreditGrants } from './plan-grants.ts';
import { OfferPlan, type OfferSurroundings } from './plan-offer.ts';
import { planPrices } from './plan-prices.ts';
import {
  type Change,
  disabledMember,
  type Entry,
  type ImportRequest,
  type Section,
} from './schema.ts';
import { calledBy, isPublished, namesOf, type Snapshot } from './snapshot.ts';

const faultsMaximum = 100;

/** The changes that an import will make. */
export interface ImportPlan {
  readonly steps: readonly Step[];
  readonly changes: readonly Change[];
  readonly unchanged: number;
}

interface Asked {
  readonly entry: Entry;
  /** True for a record that is to be out of use, though others use it. */
  readonly isDisabled: boolean;
  readonly pointer: string;
  readonly key: string;
}

/**
 * Decides an import on the catalogue as it is. Nothing is written; the ids of new records follow
 * from that of the import.
 *
 * @throws a Problem that points at everything that is wrong with the document, up to 100 places
 */
export async function planImport(
  context: RequestContext,
  snapshot: Snapshot,
  { document, prune }: Omit<ImportRequest, 'dry_run'>,
  importId: CatalogImportId,
): Promise<ImportPlan> {
  const planner = new Planner(context, snapshot, prune, importId);
  for (const kind of kinds) await planner.name(kind, document[kind.section]);
  for (const kind of kinds) planner.decide(kind);
  for (const kind of offerKinds) await planner.decideOffers(kind, document[kind.section]);
  return planner.plan();
}

/** An entry with the record that it is about, or the id of a new one. */
interface Named extends Asked {
  readonly id: string;
  readonly before: AnyRecord | null;
}

class Planner {
  readonly #context: RequestContext;
  readonly #snapshot: Snapshot;
  readonly #importId: CatalogImportId;
  readonly #around: OfferSurroundings;
  readonly #records = new Map<string, AnyRecord>();
  readonly #asked = new Map<Section, readonly Named[]>();
  readonly #steps: Step[] = [];
  /** The steps that take records out of use: they come last, in the opposite order. */
  readonly #archivals: Step[] = [];
  readonly #changes: Change[] = [];
  #unchanged = 0;
  #idsGiven = 0;

  constructor(
    context: RequestContext,
    snapshot: Snapshot,
    prune: boolean,
    importId: CatalogImportId,
  ) {
    this.#context = context;
    this.#snapshot = snapshot;
    this.#importId = importId;
    const { tenantId, environmentId, userId, keyId } = context.principal;
    const stamp: Stamp = {
      tenant_id: tenantId,
      environment_id: environmentId,
      occurred_at: context.now,
      actor: { user_id: userId, key_id: keyId },
    };
    for (const { section } of kinds) {
      for (const record of snapshot.records[section].values()) this.#records.set(record.id, record);
    }
    this.#around = {
      names: namesOf(snapshot),
      records: this.#records,
      faults: new Faults(),
      at: context.now,
      stamp,
      prune,
    };
  }

  #newId(prefix: Kind['prefix']): string {
    this.#idsGiven += 1;
    return sequencedId(prefix, this.#context.now, this.#importId, this.#idsGiven);
  }

  /** Finds for every entry the record that it is about, or gives it the id of a new one. */
  async name(kind: Kind, entries: readonly Entry[] | undefined): Promise<void> {
    const { section, prefix, aggregate, unique } = kind;
    const { names } = this.#around;
    const known = this.#snapshot.records[section];
    const named: Named[] = [];
    for (const asked of this.#keyed(section, entries ?? [], kind)) {
      const { key, entry } = asked;
      let before = known.get(key) ?? null;
      if (!before && unique && calledBy(kind, entry).unique !== null) {
        const holder = await this.#context.holderOf(aggregate, unique.field, key);
        if (holder !== null) before = (await this.#context.load(aggregate, holder)) as AnyRecord;
      }
      if (before && !isPublished(before) && !asked.isDisabled) {
        const message = 'is the name of one that is disabled for good: give this one another name';
        this.#around.faults.add(asked.pointer, message);
      }
      const id = before?.id ?? this.#newId(prefix);
      names[section].add(key, id);
      named.push({ ...asked, id, before });
    }
    this.#asked.set(section, named);
    if (!this.#around.prune || entries === undefined) return;
    const kept = new Set(named.map(({ id }) => id));
    for (const [key, state] of known) {
      if (kept.has(state.id) || !isPublished(state)) continue;
      this.#archive(kind, { key, id: state.id, state });
      this.#records.delete(state.id);
    }
  }

  /** Entries with their keys; two with one key are a fault. */
  #keyed(section: Section, entries: readonly Entry[], kind: Pick<Kind, 'unique'>): Asked[] {
    const called = entries.map((entry) => calledBy(kind, entry));
    const keys = naturalKeys(called);
    const seen = new Set<string>();
    return entries.flatMap((entry, index) => {
      const key = keys[index] ?? '';
      const pointer = `/document/${section}/${index}`;
      if (!seen.has(key)) {
        seen.add(key);
        return [{ entry, key, pointer, isDisabled: this.#isDisabled(entry, pointer) }];
      }
      this.#around.faults.add(pointer, `${JSON.stringify(key)} is there twice`);
      return [];
    });
  }

  #isDisabled({ [disabledMember]: given = false }: Entry, pointer: string): boolean {
    if (typeof given === 'boolean') return given;
    this.#around.faults.add(`${pointer}/${disabledMember}`, 'must be true or false');
    return false;
  }

  #archive(
    {
      section,
      aggregate,
      archive,
    }: Pick<Kind, 'aggregate'> & { section: Section; archive: (id: string) => unknown },
    { key, id, state }: { key: string; id: string; state: unknown },
  ): void {
    const decide = archive(id) as (state: unknown, at: string) => Step['events'];
    const events = [...decide(state, this.#around.at)];
    this.#archivals.unshift({ aggregate: aggregate.name, id, events });
    this.#changes.push({ section, key, action: 'archived', details: [] });
  }

  /** Decides on the records of one kind that the document names. */
  decide(kind: Kind): void {
    const { faults } = this.#around;
    for (const named of this.#asked.get(kind.section) ?? []) {
      const desired = faults.at(named.pointer, () => this.#decideRecord(kind, named));
      if (!desired || !named.isDisabled || !isPublished(named.before ?? desired)) continue;
      // After all others: nothing new could use it any more.
      this.#archive(kind, { ...named, state: desired });
    }
  }

  /** Decides on one record; returns what the document wants it to be. */
  #decideRecord(kind: Kind, { entry, pointer, key, id, before }: Named): AnyRecord {
    const { faults, names, at, stamp } = this.#around;
    const known = [...kind.fields, ...Object.keys(kind.references)];
    if (kind.isUsedAfterwards) known.push(disabledMember);
    refuseUnknown(entry, known, { faults, pointer });
    const fields = withIds(entry, kind.references, { names, faults, pointer });
    const creation = kind.create(id, kind.parse(fields))(null, at);
    const desired = creation.reduce<unknown>(
      (state, event) => kind.aggregate.evolve(state, { ...event, stamp }),
      null,
    ) as AnyRecord;
    this.#records.set(id, before ? { ...desired, status: before.status } : desired);
    this.#refuseWrongGroup(desired, pointer);
    if (!before) {
      this.#add(kind, { key, id }, creation, null);
      return desired;
    }
    const old = entryOf(kind.fieldsOf(before), kind.references, names);
    const different = differences(old, entryOf(kind.fieldsOf(desired), kind.references, names));
    for (const name of different) {
      if (kind.changeable.includes(name)) continue;
      const message = `cannot change: archive the record, or give this one another key`;
      faults.add(`${pointer}/${name}`, message);
    }
    const update = different.length === 0 ? [] : kind.update(id, desired)(before, at);
    this.#add(kind, { key, id }, update, different);
    return desired;
  }

  #refuseWrongGroup(desired: AnyRecord, pointer: string): void {
    const { group_id } = desired as { group_id?: string | null };
    const group = this.#records.get(group_id ?? '') as { entity_type?: string } | undefined;
    if (group && group.entity_type !== 'feature') {
      this.#around.faults.add(`${pointer}/group`, 'is no group of features');
    }
  }

  /** Adds the change of one record. `details` null: it is created. */
  #add(
    { section, aggregate }: { section: Section; aggregate: { readonly name: string } },
    { key, id }: { key: string; id: string },
    events: readonly { readonly type: string; readonly data: object }[],
    details: readonly string[] | null,
  ): void {
    if (events.length === 0) {
      this.#unchanged += 1;
      return;
    }
    refuseTooLarge(`${section} ${key}`, events, stepBytesMaximum);
    this.#steps.push({ aggregate: aggregate.name, id, events: events as Step['events'] });
    const action = details === null ? 'created' : 'updated';
    this.#changes.push({ section, key, action, details: [...(details ?? [])] });
  }

  /** Decides on the offers of one kind, with what they own. */
  async decideOffers(kind: OfferKind, entries: readonly Entry[] | undefined): Promise<void> {
    const known = this.#snapshot.offers[kind.section];
    const unique = { field: 'lookup_key' };
    const kept = new Set<string>();
    for (const asked of this.#keyed(kind.section, entries ?? [], { unique })) {
      let before = known.get(asked.key) ?? null;
      if (!before && calledBy({ unique }, asked.entry).unique !== null) {
        const holder = await this.#context.holderOf(offer, kind.claim, asked.key);
        before = holder === null ? null : await this.#context.load(offer, holder);
      }
      const id = before?.root.record.id ?? this.#newId(kind.prefix);
      kept.add(id);
      await this.#decideOffer(kind, asked, { id, before });
    }
    if (!this.#around.prune || entries === undefined) return;
    for (const [key, state] of known) {
      const { id } = state.root.record;
      if (!kept.has(id)) this.#archive({ ...kind, aggregate: offer }, { key, id, state });
    }
  }

  async #decideOffer(
    kind: OfferKind,
    { entry, pointer, key }: Asked,
    { id, before }: { id: string; before: Offer | null },
  ): Promise<void> {
    const { faults } = this.#around;
    refuseUnknown(entry, [...kind.fields, ...kind.owns], { faults, pointer });
    const fields = Object.fromEntries(kind.fields.map((name) => [name, entry[name] ?? null]));
    const decided = new OfferPlan(kind, id, before, this.#around);
    const isMade = faults.at(pointer, () => {
      const isChanged = decided.run(before ? kind.update(id, fields) : kind.create(id, fields));
      if (before && isChanged) decided.details.push('fields');
      return true;
    });
    if (!isMade) return;
    const owned = (name: (typeof kind.owns)[number]) => this.#owned(entry, name, pointer);
    await this.#refuseForeignKeys(id, owned('prices'));
    planPrices(decided, owned('prices'));
    if (kind.owns.includes('entitlements')) planEntitlements(decided, owned('entitlements'));
    if (kind.owns.includes('credit_grants')) planCreditGrants(decided, owned('credit_grants'));
    const named = { section: kind.section, aggregate: offer };
    this.#add(named, { key, id }, decided.events, before ? decided.details : null);
  }

  /** The records that an entry of an offer holds. */
  #owned(entry: Entry, name: string, pointer: string): { entry: Entry; pointer: string }[] {
    const given = entry[name] ?? [];
    if (Array.isArray(given) && given.every((each) => typeof each === 'object' && each !== null)) {
      return given.map((each: Entry, index) => ({
        entry: each,
        pointer: `${pointer}/${name}/${index}`,
      }));
    }
    this.#around.faults.add(`${pointer}/${name}`, 'must be a list of objects');
    return [];
  }

  async #refuseForeignKeys(id: string, prices: readonly { entry: Entry; pointer: string }[]) {
    for (const { entry, pointer } of prices) {
      if (typeof entry.lookup_key !== 'string' || entry.lookup_key === '') continue;
      const key = entry.lookup_key;
      const holder = await this.#context.holderOf(offer, 'price_lookup_key', key);
      if (holder === null || holder === id) continue;
      this.#around.faults.add(`${pointer}/lookup_key`, `is that of a price of ${holder}`);
    }
  }

  /** The whole of it. Throws when anything is wrong with the document, or it is too large. */
  plan(): ImportPlan {
    const { all } = this.#around.faults;
    if (all.length > 0) {
      const message = `The document has ${all.length} faults; nothing was imported.`;
      throw new Problem('validation_error', message, { errors: all.slice(0, faultsMaximum) });
    }
    const steps = [...this.#steps, ...this.#archivals];
    refuseTooLarge('This import', [steps, this.#changes], planBytesMaximum);
    invariant(steps.length === this.#changes.length, 'every change is one step');
    return { steps, changes: this.#changes, unchanged: this.#unchanged };
  }
}
