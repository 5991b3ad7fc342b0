/** The askers of questions as a process of its own: takes one plan from its parent, and answers it. */
import { carryOut } from '../carry-out.ts';
import { askQuestions } from './ask-questions.ts';

carryOut(askQuestions);
