/** The type of a value, as a declaration says it. */
export type Shape =
  | { readonly kind: 'text' | 'number' | 'boolean' | 'null' | 'anything' | 'never' }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'list'; readonly of: Shape }
  | { readonly kind: 'union'; readonly of: readonly Shape[] }
  | { readonly kind: 'members'; readonly members: Members }
  | { readonly kind: 'named'; readonly name: string; readonly of: readonly Shape[] };

/** The members of an object, and the shape of all that have no name of their own. */
export interface Members {
  readonly named: ReadonlyMap<string, { readonly shape: Shape; readonly isOptional: boolean }>;
  readonly others: Shape | null;
  /** Names of declarations whose members it has too. */
  readonly extends: readonly string[];
}

/** The declarations of one file, and where the names come from that it does not declare. */
export interface DeclarationFile {
  readonly declared: ReadonlyMap<string, Shape>;
  /** By the name in this file: the file and the name there. */
  readonly imported: ReadonlyMap<string, { readonly from: string; readonly name: string }>;
}
