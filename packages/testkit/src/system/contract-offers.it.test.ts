import { suite } from 'uvu';
import { tryOperations } from './contract-trials.ts';
import { offerExamples } from './offer-examples.ts';

const test = suite('every operation on offers with every kind of input');

tryOperations(test, offerExamples);

test.run();
