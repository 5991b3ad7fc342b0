import { type AskingContext, askingWith } from '@counterfoil/engine/define';
import type { RatingMoment } from '../subscriptions/index.ts';
import { usageTables } from '../usage/index.ts';

/** Reads of usage for an invoice: what they show at least is known by the position. */
export interface UsageReading {
  readonly context: AskingContext;
  readonly moment: RatingMoment;
}

/** The ways in which an invoice reads usage. */
export interface UsageReadings {
  /** As far as it was counted by now: for drafts. */
  readonly atOnce: (context: AskingContext) => Promise<UsageReading>;
  /** Everything that is in the log by now: for what is made final. Throws 503 while usage is counted behind it. */
  readonly byNow: (context: AskingContext) => Promise<UsageReading>;
}

/** Usage as its tables have it. */
export const usageOfTables: UsageReadings = {
  atOnce: async (context) => ({
    context,
    moment: { position: await context.facts.shown(usageTables) },
  }),
  byNow: async (context) => {
    const facts = await context.factsByNow();
    const position = await facts.shown(usageTables);
    return { context: askingWith(context, facts), moment: { position } };
  },
};
