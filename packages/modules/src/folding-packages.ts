/**
 * The addresses of the packages whose code folds events to states. What was folded with other code of
 * theirs may be another state.
 */
export const foldingPackages = (): readonly string[] =>
  ['kernel', 'engine', 'webhooks', 'modules'].map((name) =>
    import.meta.resolve(`@counterfoil/${name}`),
  );
