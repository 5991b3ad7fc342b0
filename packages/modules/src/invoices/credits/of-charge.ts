import { zeroText } from '@counterfoil/kernel';
import { type DividedCredit, dividedCredits, type Settled } from '../../subscriptions/index.ts';

type Settlement = Settled['settlement'];

/** Tells whether a settlement has the charge that a credit is of, as it was charged. */
export const hasCharge = (
  { lines }: Settlement,
  { credit: { line_item_id, whole } }: DividedCredit,
): boolean =>
  lines.some(
    (line) =>
      line.kind === 'charge' &&
      line.line_item_id === line_item_id &&
      line.span.start === whole.start &&
      line.span.end === whole.end,
  );

/** Credits that are given back of charges whose invoice was not final: they go on that invoice, while it is a draft. */
export const creditsOnDrafts = (settlement: Settlement): readonly DividedCredit[] =>
  dividedCredits(settlement).filter(
    ({ credit, beyond }) => credit.invoice_id === undefined && beyond !== zeroText,
  );
