export type {
  BilledAct,
  BilledDiscount,
  BilledItem,
  BilledLife,
  BilledPrice,
  BilledUse,
  ShownBill,
  ShownLine,
} from './life.ts';
export { type Billed, billsOf } from './model.ts';
