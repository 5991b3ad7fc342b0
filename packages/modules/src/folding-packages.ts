/**
 * The addresses of the packages whose code folds events to states. States that were folded with
 * other code of theirs may differ.
 */
export const foldingPackages = (): readonly string[] =>
  ['kernel', 'engine', 'webhooks', 'modules'].map((name) =>
    import.meta.resolve(`@counterfoil/${name}`),
  );
