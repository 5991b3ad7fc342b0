import { suite } from 'uvu';
import { catalogSlices, tryOperations } from './contract-trials.ts';
import { routeKeys } from './examples.ts';

const test = suite('every operation of the catalogue with every kind of input');

tryOperations(
  test,
  routeKeys((slice) => catalogSlices.includes(slice)),
);

test.run();
