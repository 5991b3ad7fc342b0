/**
 * Adds the examples that are not yet among the golden lines, rated by the rules of today. What is there stays: a golden
 * line that fails says that the rules of its version have changed.
 *
 *     node packages/modules/src/rating/golden/write-golden.ts
 */
import { writeFileSync } from 'node:fs';
import { currentRules, rate, rateCommitment } from '../rate.ts';
import { exampleCommitments, exampleLines } from './examples.ts';
import { type Golden, goldenFile, goldenLines } from './lines.ts';

const kept = goldenLines();
const isNew = ([name]: readonly [string, unknown]): boolean =>
  !kept.some((golden) => golden.name === name && golden.rules === currentRules);
const added: Golden[] = [
  ...Object.entries(exampleLines)
    .filter(isNew)
    .map(([name, line]) => ({ name, rules: currentRules, line, rated: rate(line) })),
  ...Object.entries(exampleCommitments)
    .filter(isNew)
    .map(([name, commitment]) => ({
      name,
      rules: currentRules,
      commitment,
      rated: rateCommitment(commitment),
    })),
];
writeFileSync(goldenFile, `${JSON.stringify([...kept, ...added], null, 2)}\n`);
