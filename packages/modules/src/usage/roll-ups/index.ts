export { hourOf } from './hours.ts';
export { RollUps, type WrittenEvent } from './roll-ups.ts';
export {
  comparedRollUps,
  createRollUpTables,
  type RollUpTables,
  rollUpRelations,
} from './tables.ts';
