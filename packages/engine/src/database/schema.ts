import type { Generated, GeneratedAlways } from 'kysely';

/** A whole number of 64 bits or a decimal, which arrives as its text: no number could hold it. */
export type BigNumber = string;
/** An instant in RFC 3339. */
export type Timestamp = string;
/** The text of a JSON value, as it was stored. */
export type Json = string;

/** A table with one row, which is always there. */
interface Singleton {
  readonly singleton: GeneratedAlways<boolean>;
}

interface ProjectorTable extends Singleton {
  position: BigNumber;
  event_position: BigNumber | null;
  event_stream: string | null;
  event_revision: BigNumber | null;
  event_hash: string | null;
  updated_at: Generated<Timestamp>;
}

/** The fillings of the read tables. */
export interface ProjectionTable {
  name: string;
  version: number;
  generation: number;
  /** Name of the table that holds the rows. */
  relation: string;
  status: Generated<'building' | 'live' | 'stopped' | 'retired'>;
  serving: Generated<boolean>;
  /** Null while it stands with the projector, whose position is its own then. */
  position: Generated<BigNumber | null>;
  error: Json | null;
  shape: string;
  rebuild_requested: Generated<boolean>;
  updated_at: Generated<Timestamp>;
}

/** The same with the position that each filling has, its own or the projector's. */
export interface ProjectionProgressView extends Omit<ProjectionTable, 'position'> {
  position: BigNumber;
  stands_together: boolean;
}

interface FillingTable {
  name: string;
  version: number;
  generation: number;
  serving: Generated<boolean>;
  retired: Generated<boolean>;
  rebuild_requested: Generated<boolean>;
  position: Generated<BigNumber>;
  /** The position after the last batch that may have changed what facts count as. */
  counted_position: Generated<BigNumber>;
  /** Parts that were dropped or filled again: whoever fills on has to know of it. */
  part_changes: Generated<number>;
  event_position: BigNumber | null;
  event_stream: string | null;
  event_revision: BigNumber | null;
  event_hash: string | null;
  updated_at: Generated<Timestamp>;
}

/** The parts of tables of facts of which somebody has said whether they are to be kept. */
export interface FactPartTable {
  name: string;
  part: string;
  wish: 'kept' | 'dropped';
  /** The reason why the last try to do so failed. */
  problem: string | null;
  asked_at: Generated<Timestamp>;
}

interface RelayCheckpointTable extends Singleton {
  stream: string;
  sequence: BigNumber;
  position: BigNumber;
  updated_at: Generated<Timestamp>;
}

interface PublicBytesTable {
  tenant_id: string;
  bytes: BigNumber;
  began_at: Generated<Timestamp>;
  position: BigNumber;
}

interface ReactionTable {
  name: string;
  position: BigNumber;
  /** By stream. */
  held_back: Json;
  updated_at: Generated<Timestamp>;
}

interface VerificationTable extends Singleton {
  round: BigNumber;
  position: BigNumber;
  event_stream: string | null;
  event_revision: BigNumber | null;
  event_hash: string | null;
  verified_at: Timestamp | null;
  completed_position: BigNumber | null;
  completed_at: Timestamp | null;
}

export interface VerificationFindingTable {
  kind: 'log' | 'event' | 'checkpoint' | 'read_model';
  place: string;
  scope: string | null;
  problem: string;
  round: BigNumber;
  found_at: Generated<Timestamp>;
}

/**
 * The engine's operational tables, for statements that are checked against them. The tables of
 * projections follow from their declarations: see `TablesOf`.
 */
export interface EngineTables {
  projector: ProjectorTable;
  projection: ProjectionTable;
  projection_progress: ProjectionProgressView;
  filling: FillingTable;
  fact_part: FactPartTable;
  relay_checkpoint: RelayCheckpointTable;
  public_bytes: PublicBytesTable;
  reaction: ReactionTable;
  verification: VerificationTable;
  verification_finding: VerificationFindingTable;
}
