import type { AskingContext } from '@counterfoil/engine/define';
import { type GroupQuestion, usageInGroups } from './usage-in-groups.ts';

/** The sources of the events of each group, where they are asked for and tell the groups not apart. */
export type GroupSources = (group: readonly string[]) => { readonly sources?: string[] };

const noSources: GroupSources = () => ({});

/**
 * The sources of the events that are counted in each group of a question. They cost a question of their own, in which
 * every source is a group: it has the same limits.
 */
export async function groupSources(
  context: AskingContext,
  question: GroupQuestion,
  expand: readonly string[] = [],
): Promise<GroupSources> {
  const { groupings } = question;
  if (!expand.includes('sources') || groupings.some(({ kind }) => kind === 'source')) {
    return noSources;
  }
  const parts = await usageInGroups(context, {
    ...question,
    windows: null,
    groupings: [...groupings, { kind: 'source' }],
  });
  const found = Map.groupBy(parts, ({ group }) => JSON.stringify(group.slice(0, -1)));
  return (group) => ({
    sources: (found.get(JSON.stringify(group)) ?? []).flatMap((part) => part.group.at(-1) || []),
  });
}
