import { suite } from 'uvu';
import { chargesTheSame } from './test-thresholds.ts';

const test = suite('invoices by amount, as one, many times');

test('what invoices by amount and the closing one charge is what one invoice would', () =>
  chargesTheSame(2_000));

test.run();
