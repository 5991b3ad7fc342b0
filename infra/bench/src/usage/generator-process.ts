/** The senders of usage as a process of its own: takes one plan from its parent, and answers it. */
import { carryOut } from '../in-process.ts';
import { sendUsage } from './send-usage.ts';

carryOut(sendUsage);
