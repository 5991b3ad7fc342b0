interface Schema {
  safeParse(value: unknown): {
    readonly error?: { readonly issues: readonly { readonly path: readonly PropertyKey[] }[] };
  };
}

/** JSON pointers of everything that a schema finds wrong with a value; empty when it is valid. */
export const pointersOf = (schema: Schema, value: unknown): string[] =>
  (schema.safeParse(value).error?.issues ?? []).map(({ path }) =>
    path.map((key) => `/${String(key)}`).join(''),
  );
