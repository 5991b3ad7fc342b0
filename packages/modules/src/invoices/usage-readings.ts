import { type AskingContext, askingWith } from '@counterfoil/engine/define';
import type { RatingMoment } from '../subscriptions/index.ts';
import { usageTables } from '../usage/index.ts';

/** Reads of usage for an invoice: what they show at least is known by the position. */
export interface UsageReading {
  readonly context: AskingContext;
  readonly moment: RatingMoment;
  /** Tells whether the reads show usage up to the position by now and nothing after it; absent: they do at any time. */
  readonly isStill?: () => Promise<boolean>;
}

/** The ways in which an invoice reads usage. */
export interface UsageReadings {
  /** As far as it was counted by now: for drafts. */
  readonly atOnce: (context: AskingContext) => Promise<UsageReading>;
  /**
   * Everything that is in the log by now: for what is made final. The position is that of the tables in that moment. Throws 503 while usage
   * is counted behind it.
   */
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
    const shown = await facts.shown(usageTables);
    const changedAt = await facts.changedAt(usageTables);
    return {
      context: askingWith(context, facts),
      // Usage that came in after the question was asked is counted already.
      moment: { position: BigInt(changedAt) > BigInt(shown) ? changedAt : shown },
      isStill: async () => (await facts.changedAt(usageTables)) === changedAt,
    };
  },
};
