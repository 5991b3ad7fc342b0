/** The load generator as a process of its own: takes one plan from its parent, and answers it. */
import { carryOut } from '../carry-out.ts';
import { generate } from './generator.ts';

carryOut(generate);
