import { suite } from 'uvu';
import { tryOperations } from './contract-trials.ts';
import { routeKeys } from './examples.ts';

const test = suite('every operation on offers with every kind of input');

tryOperations(
  test,
  routeKeys((slice) => slice === 'offers'),
);

test.run();
