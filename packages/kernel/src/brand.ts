declare const brand: unique symbol;

/** A string or number that has been checked to be one particular kind of thing. */
export type Brand<Value, Name extends string> = Value & { readonly [brand]: Name };
