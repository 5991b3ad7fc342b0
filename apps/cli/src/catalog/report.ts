/** The answer of the API about an import. */
export interface ImportReport {
  readonly dry_run: boolean;
  readonly changes: readonly {
    readonly section: string;
    readonly key: string;
    readonly action: 'created' | 'updated' | 'archived';
    readonly details: readonly string[];
  }[];
  readonly unchanged: number;
  readonly refused: readonly { readonly id: string; readonly message: string }[];
}

const signs = { created: '+', updated: '~', archived: '-' } as const;

/** An import, line by line: `+ plans pro`, with its changes below, and a sum at the end. */
export function reportLines({ dry_run, changes, unchanged, refused }: ImportReport): string[] {
  const count = (wanted: string): number =>
    changes.filter(({ action }) => action === wanted).length;
  return [
    ...changes.flatMap(({ section, key, action, details }) => [
      `${signs[action]} ${section} ${key}`,
      ...details.map((detail) => `    ${detail}`),
    ]),
    ...refused.map(({ id, message }) => `! ${id}: ${message}`),
    `${count('created')} created, ${count('updated')} updated, ${count('archived')} archived, ` +
      `${unchanged} unchanged${dry_run ? ' (nothing was written)' : ''}`,
  ];
}
