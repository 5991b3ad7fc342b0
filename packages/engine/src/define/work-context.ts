import type { AskingContext } from './asking-context.ts';
import type { CommandContext } from './context.ts';

/**
 * Everything that work may use which the service does by itself: because a time comes, because of facts, or because of
 * what others have recorded. A request may use it too, so that what a caller asks for at once is done the same way.
 */
export interface WorkContext extends CommandContext, AskingContext {}
