import type { Column, ColumnTypes, Embeds } from '@counterfoil/engine/define';
import type {
  EventOf,
  Id,
  IdPrefix,
  RecordStamps,
  RecordStatus,
  UniqueValue,
} from '@counterfoil/kernel';
import type { z } from 'zod';

/** A step in the life of a record: its event, and the public message about it. */
export interface Step<Event extends string = string> {
  readonly event: Event;
  /** The type of the message, such as `coupon.created`. */
  readonly publishes: string;
  /** The occasion, for those who receive the message: "A coupon is created". */
  readonly when: string;
}

/**
 * The steps that records of a kind can take. An archived record stays readable by its id; a deleted one
 * is not found any more (D15). Both are for good.
 */
export interface Life {
  readonly created: Step;
  readonly updated?: Step;
  readonly archived?: Step;
  /** Archived because nothing used it any more: refused while something refers to the record. */
  readonly retired?: Step;
  readonly deleted?: Step;
}

/** The name of a step's event; never where the life has no such step. */
type EventNamed<Steps extends Life, Name extends keyof Life> = Steps extends {
  readonly [Key in Name]: Step<infer Event>;
}
  ? Event
  : never;

/** The values of fields by their schemas. */
export type Fields<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>;

/** The events of a kind: created with all fields, updated with those that changed, archived, deleted. */
export type RecordEvents<
  Steps extends Life,
  Prefix extends IdPrefix,
  Fixed extends z.ZodRawShape,
  Changeable extends z.ZodRawShape,
> = Readonly<
  Record<
    EventNamed<Steps, 'created'>,
    z.ZodType<Fields<Fixed & Changeable> & { readonly id: Id<Prefix> }>
  > &
    Record<EventNamed<Steps, 'updated'>, z.ZodType<Partial<Fields<Changeable>>>> &
    Record<
      EventNamed<Steps, 'archived'> | EventNamed<Steps, 'retired'> | EventNamed<Steps, 'deleted'>,
      z.ZodType<Record<never, never>>
    >
>;

/** A record as its events fold it. */
export type Kept<Prefix extends IdPrefix, Shape extends z.ZodRawShape, Born> = Fields<Shape> &
  Born &
  RecordStamps & { readonly id: Id<Prefix>; readonly status: RecordStatus };

/** A kind of record as those name it that refer to it. */
export interface Named {
  /** Category of its streams. */
  readonly name: string;
  /** The name of the kind, for people. */
  readonly called: string;
}

/** A kind of record that a field refers to. */
interface Referred<AllFields> extends Named {
  /** Tells whether the record that is referred to follows from this one, and so comes after it. */
  readonly follows?: (fields: AllFields) => boolean;
}

/** The declaration of a kind of record. */
export interface Definition<
  Name extends string,
  Prefix extends IdPrefix,
  Steps extends Life,
  Fixed extends z.ZodRawShape,
  Changeable extends z.ZodRawShape,
  Born,
  Request extends z.ZodType,
  Schema extends z.ZodType,
  TableName extends string,
  Columns extends ColumnTypes,
> extends Named {
  /** Also the member of a public message that holds the record. */
  readonly name: Name;
  readonly prefix: Prefix;
  readonly life: Steps;
  /** Fields that never change after the record has been created. */
  readonly fixed: Fixed;
  /** Fields that may. */
  readonly changeable: Changeable;
  /** Members of a new record that no event carries. */
  readonly born?: Born;
  /** The field whose value no other published record has. */
  readonly unique?: Unique<keyof Fields<Fixed & Changeable> & string>;
  /** Values that no other published record holds, where they are made of several fields. */
  readonly claims?: (record: Kept<Prefix, Fixed & Changeable, Born>) => readonly UniqueValue[];
  /** Fields that hold the id of another record, which must stay in use as long as this one is. */
  readonly references?: Partial<
    Record<keyof Fields<Fixed & Changeable>, Referred<Fields<Fixed & Changeable>>>
  >;
  /** Throws a `Problem` where fields do not fit each other. */
  readonly check?: (fields: Fields<Fixed & Changeable>) => void;
  /** The body of a request that creates a record, and the fields that follow from it. */
  readonly request?: {
    readonly schema: Request;
    readonly fields: (request: z.output<Request>) => Fields<Fixed & Changeable>;
  };
  /** The record on the wire. */
  readonly schema: Schema;
  readonly view: (record: Kept<Prefix, Fixed & Changeable, Born>) => z.output<Schema>;
  /** Records that messages show inside it, by the member of the record that holds each (D62). */
  readonly embeds?: Embeds<Kept<Prefix, Fixed & Changeable, Born>>;
  /** Its read table, with a version that rises whenever the fold, the view or the columns change. */
  readonly table: {
    readonly name: TableName;
    readonly version: number;
    readonly columns: {
      readonly [Key in keyof Columns]: Column<Columns[Key], z.output<Schema>, unknown>;
    };
  };
  /** The parts of an entry in a catalogue file that differ from the request and from the view. */
  readonly entry?: {
    /** Changeable fields that no request to create takes: they change right after the creation. */
    readonly later?: z.ZodObject;
    readonly fields?: (record: Kept<Prefix, Fixed & Changeable, Born>) => object;
  };
}

/** The text in the form in which texts are compared that may differ in case. */
export const lowerCase = (text: string): string => text.toLowerCase();

/** A field that is unique among published records. */
export interface Unique<Field extends string = string> {
  readonly field: Field;
  /** True when values that differ in case alone are the same. */
  readonly ignoresCase?: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: definitions of every kind.
export type AnyDefinition = Definition<any, any, Life, any, any, any, any, any, any, any>;

/** The state of a kind: null until the record is created. */
export type StateOf<Kind extends { readonly aggregate: { readonly initial: unknown } }> =
  Kind['aggregate']['initial'];

/** A record of a kind, once it is there. */
export type RecordOf<Kind extends { readonly aggregate: { readonly initial: unknown } }> =
  NonNullable<StateOf<Kind>>;

/** The events of a kind. */
export type EventsOf<
  Kind extends { readonly aggregate: { readonly events: Readonly<Record<string, z.ZodType>> } },
> = EventOf<Kind['aggregate']['events']>;
