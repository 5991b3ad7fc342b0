import { readFileSync } from 'node:fs';
import type { RatedCommitment, RatedLine, RulesVersion } from '../rate.ts';
import type { RatingRequest } from '../request.ts';
import type { SubscriptionCommitment } from '../subscription-commitment.ts';

/** A line, or a commitment, as the rules of a version have rated it once. */
export type Golden = { readonly name: string; readonly rules: RulesVersion } & (
  | { readonly line: RatingRequest; readonly rated: RatedLine }
  | { readonly commitment: SubscriptionCommitment; readonly rated: RatedCommitment }
);

export const goldenFile = new URL('golden-lines.json', import.meta.url);

/** All that were kept, in the order in which they came. */
export const goldenLines = (): readonly Golden[] => JSON.parse(readFileSync(goldenFile, 'utf8'));
