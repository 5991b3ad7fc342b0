import { folded, given } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { finalInvoice } from '../../test-final-invoice.ts';
import type { InvoiceEvent } from '../events.ts';
import { amountsOf, type Invoice, invoice, paymentStatusOf } from '../invoice.ts';
import { moneyOn, notePayment, returnPayment, settlePayment } from './payments.ts';

const test = suite('payments on an invoice');

const text = (value: string): never => value as never;
const hundred = finalInvoice({ lines: [{ amount: '100' }] });
const paying = (payment_id: string, amount: string) =>
  settlePayment({ payment_id, method: 'OFFLINE', amount: text(amount) });
const settled = (payment_id: string, amount: string, excess = '0'): InvoiceEvent => ({
  type: 'PaymentSettled',
  data: { payment_id, method: 'OFFLINE', amount: text(amount), excess: text(excess) },
});
const voided: InvoiceEvent = { type: 'InvoiceVoided', data: { money: text('0'), taken: [] } };
const after = (events: readonly InvoiceEvent[]): Invoice => folded(invoice, events) as Invoice;

/** Payments of an invoice of 100, and what is then on it. */
const table = [
  { paid: [], remaining: '100', over: '0', status: 'PENDING' },
  { paid: ['40'], remaining: '60', over: '0', status: 'PENDING' },
  { paid: ['40', '60'], remaining: '0', over: '0', status: 'SUCCEEDED' },
  { paid: ['100'], remaining: '0', over: '0', status: 'SUCCEEDED' },
  { paid: ['120'], remaining: '0', over: '20', status: 'OVERPAID' },
  { paid: ['60', '60'], remaining: '0', over: '20', status: 'OVERPAID' },
  { paid: ['100', '30'], remaining: '0', over: '30', status: 'OVERPAID' },
] as const;

for (const { paid, remaining, over, status } of table) {
  test(`100, of which ${paid.join(' and ') || 'nothing'} is paid, is ${status}`, () => {
    const events = [...hundred];
    for (const [index, amount] of paid.entries()) {
      events.push(...(paying(`pay_${index}`, amount)(after(events), text('')) as InvoiceEvent[]));
    }
    const state = after(events);
    const { amount_remaining, overpaid_amount, amount_paid } = amountsOf(state);
    assert.equal([amount_remaining, overpaid_amount], [remaining, over]);
    assert.is(
      Number(amount_paid),
      paid.reduce((sum, each) => sum + Number(each), 0),
    );
    assert.is(paymentStatusOf(state), status);
    assert.is(state.paid_at !== null, remaining === '0');
  });
}

test('a payment counts once', () => {
  given(invoice, [...hundred, settled('pay_1', '40')])
    .when(paying('pay_1', '40'))
    .then([]);
});

test('what nobody owed any more is the excess of the payment that brought it', () => {
  given(invoice, [...hundred, settled('pay_1', '70')])
    .when(paying('pay_2', '50'))
    .then([settled('pay_2', '50', '20')]);
});

test('neither a void invoice nor a draft takes a payment', () => {
  given(invoice, [...hundred, voided])
    .when(paying('pay_1', '40'))
    .then([]);
  given(invoice, [hundred[0]]).when(paying('pay_1', '40')).then([]);
});

test('money that went back is owed again, however often that is heard', () => {
  const paid = [...hundred, settled('pay_1', '100')];
  const back = returnPayment({ payment_id: 'pay_1', returned: text('30'), isPartAllowed: true });
  const returned: InvoiceEvent = {
    type: 'PaymentReturned',
    data: { payment_id: 'pay_1', amount: text('30') },
  };
  given(invoice, paid).when(back).then([returned]);
  given(invoice, [...paid, returned])
    .when(back)
    .then([]);
  const state = after([...paid, returned]);
  assert.is(amountsOf(state).amount_remaining, '30');
  assert.is(paymentStatusOf(state), 'PENDING');
  assert.is(state.paid_at, null);
});

test('an excess that is with the customer does not go back as well', () => {
  given(invoice, [...hundred, settled('pay_1', '120', '20')])
    .when(returnPayment({ payment_id: 'pay_1', returned: text('120'), isPartAllowed: true }))
    .then([{ type: 'PaymentReturned', data: { payment_id: 'pay_1', amount: text('100') } }]);
  const [left, ...others] = moneyOn(after([...hundred, settled('pay_1', '120', '20')]));
  assert.equal([left, others], [{ payment_id: 'pay_1', amount: '100' }, []]);
});

test('the invoice is owed again for what another payment had paid', () => {
  const paid = [...hundred, settled('pay_1', '60'), settled('pay_2', '60', '20')];
  given(invoice, paid)
    .when(returnPayment({ payment_id: 'pay_1', returned: text('60'), isPartAllowed: true }))
    .thenState((state) => assert.is(amountsOf(state as Invoice).amount_remaining, '60'));
});

test("what a settlement gave back, and the money of a dead purchase, are the customer's", () => {
  const paid = [...hundred, settled('pay_1', '100')];
  const lineId = after(paid).lines[0]?.id ?? text('');
  const lines = [{ line_id: lineId, amount: text('30'), tax: text('0'), credits: text('0') }];
  const given_back: InvoiceEvent = {
    type: 'ChargesGivenBack',
    data: { settlement_id: 'settlement_1', lines },
  };
  const back = returnPayment({ payment_id: 'pay_1', returned: text('100'), isPartAllowed: true });
  given(invoice, [...paid, given_back])
    .when(back)
    .then([{ type: 'PaymentReturned', data: { payment_id: 'pay_1', amount: text('70') } }]);
  const dead: InvoiceEvent = { type: 'PurchaseEnded', data: { end: 'dead', money: text('100') } };
  given(invoice, [...paid, dead])
    .when(back)
    .then([]);
});

test('a payment that an invoice never took cannot go back', () => {
  given(invoice, [...hundred])
    .when(returnPayment({ payment_id: 'pay_1', returned: text('1'), isPartAllowed: true }))
    .then([]);
});

test('what is known of a payment that has not come is noted once, until one comes', () => {
  const failed = notePayment({ payment_id: 'pay_1', payment_status: 'FAILED' });
  const noted: InvoiceEvent = {
    type: 'PaymentNoted',
    data: { payment_id: 'pay_1', payment_status: 'FAILED' },
  };
  given(invoice, [...hundred])
    .when(failed)
    .then([noted]);
  given(invoice, [...hundred, noted])
    .when(failed)
    .then([]);
  assert.is(paymentStatusOf(after([...hundred, noted])), 'FAILED');
  assert.is(paymentStatusOf(after([...hundred, noted, settled('pay_2', '40')])), 'PENDING');
  given(invoice, [...hundred, settled('pay_1', '100')])
    .when(failed)
    .then([]);
});

test.run();
