export type { Billed } from './billing.ts';
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
export { billsOf } from './model.ts';
