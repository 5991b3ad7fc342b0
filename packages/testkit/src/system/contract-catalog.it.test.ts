import { suite } from 'uvu';
import { catalogExamples } from './catalog-examples.ts';
import { tryOperations } from './contract-trials.ts';
import { offerExamples } from './offer-examples.ts';

const test = suite('every operation of the catalogue with every kind of input');

const others = Object.entries(catalogExamples).filter(
  ([key]) => !Object.hasOwn(offerExamples, key),
);
tryOperations(test, Object.fromEntries(others));

test.run();
