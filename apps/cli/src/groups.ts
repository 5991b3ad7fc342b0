import type { Command } from 'commander';

type Print = (line: string) => void;

/** Adds commands to a program. */
type AddCommands = (program: Command, print: Print) => void;

/** Commands with files of their own. */
interface Group {
  /** The first words of the command lines that they are for. */
  readonly words: readonly string[];
  readonly load: () => Promise<AddCommands>;
}

/** All of them together take a second to load, and one that only sends a request next to nothing. */
export const groups: readonly Group[] = [
  { words: ['seed'], load: async () => (await import('./seed/command.ts')).addSeedCommand },
  {
    words: ['catalog'],
    load: async () => (await import('./catalog/command.ts')).addCatalogCommand,
  },
  { words: ['clock'], load: async () => (await import('./clock/command.ts')).addClockCommand },
  { words: ['tasks'], load: async () => (await import('./tasks/command.ts')).addTasksCommand },
  { words: ['usage'], load: async () => (await import('./usage/command.ts')).addUsageCommand },
  {
    words: ['exports'],
    load: async () => (await import('./exports/command.ts')).addExportsCommand,
  },
  {
    words: ['simulate'],
    load: async () => (await import('./simulate/command.ts')).addSimulateCommand,
  },
  {
    words: ['tenants', 'environments', 'users', 'keys'],
    load: async () => (await import('./operator/command.ts')).addOperatorCommands,
  },
  {
    words: ['webhooks'],
    load: async () => (await import('./webhooks/command.ts')).addWebhooksCommand,
  },
];

/**
 * Adds to a program the commands that begin with a word. Where it has none of that name, and no group has, all are added: for
 * its help, and for what it says of a word that is no command.
 */
export async function addGroups(program: Command, print: Print, word: string): Promise<void> {
  const isThere = program.commands.some((command) => command.name() === word);
  const asked = groups.filter(({ words }) => words.includes(word));
  const needed = isThere || asked.length > 0 ? asked : groups;
  for (const add of await Promise.all(needed.map(({ load }) => load()))) add(program, print);
}
