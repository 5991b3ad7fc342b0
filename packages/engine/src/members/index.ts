export { type Handover, type HandoverOptions, joinMembers } from './handover.ts';
export type { Member } from './live-members.ts';
