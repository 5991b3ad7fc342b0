/** The senders of usage as a process of its own: takes one plan from its parent, and answers it. */
import { carryOut } from '../carry-out.ts';
import { sendUsage } from './send-usage.ts';

carryOut(sendUsage);
