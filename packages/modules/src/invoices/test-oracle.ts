import type { TestBill } from './test-bill.ts';

/**
 * The amounts of an invoice without negative lines, by whole numbers of the smallest unit of its currency: an arithmetic of its own,
 * which shares nothing with the code that it judges.
 */
export function amountsByOracle(given: TestBill, digits: number) {
  const words = (text = ''): string[] => text.split(' ').filter((word) => word !== '');
  const lines = words(given.lines).map((word) => ({
    usage: word[0] === 'u',
    amount: unitsOf(word.slice(1), digits),
  }));
  const nets = lines.map(({ amount }) => amount);
  for (const [place, discounts] of Object.entries(given.ofLines ?? {})) {
    for (const word of words(discounts)) {
      const net = nets[Number(place)];
      if (net !== undefined) nets[Number(place)] = net - discountOf(word, net, digits);
    }
  }
  const afterLines = [...nets];
  const left = [...nets];
  for (const word of words(given.whole)) {
    const shares = sharedOut(discountOf(word, total(left), digits), left);
    for (const [index, share] of shares.entries()) left[index] = (left[index] ?? 0n) - share;
  }
  const ofWhole = afterLines.map((net, index) => net - (left[index] ?? 0n));
  const taxable = total(left);
  let tax = 0n;
  for (const word of words(given.taxes)) {
    if (word.endsWith('%')) tax += percentOf(word, taxable);
    else if (taxable > 0n) tax += unitsOf(word, digits);
  }
  const taxes = sharedOut(tax, left);
  const paid = left.map(() => 0n);
  for (const wallet of (given.credits ?? '').split(',').filter((each) => each !== '')) {
    const [kind, amount] = wallet.includes(' ') ? words(wallet) : ['usage', wallet];
    let funds = unitsOf(amount ?? '0', digits);
    lines.forEach(({ usage }, index) => {
      if (kind === (usage ? 'fixed' : 'usage')) return;
      const open = (left[index] ?? 0n) - (paid[index] ?? 0n);
      const part = open < funds ? open : funds;
      paid[index] = (paid[index] ?? 0n) + part;
      funds -= part;
    });
  }
  const subtotal = total(lines.map(({ amount }) => amount));
  const credits = total(paid);
  return {
    subtotal,
    discount: subtotal - taxable,
    credits,
    tax,
    total: taxable - credits + tax,
    lines: lines.map(({ amount }, index) => [
      amount - (afterLines[index] ?? 0n),
      ofWhole[index] ?? 0n,
      paid[index] ?? 0n,
      taxes[index] ?? 0n,
    ]),
  };
}

/** A decimal text in units of its last digit. */
export function unitsOf(text: string, digits: number): bigint {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  const units = BigInt(whole + fraction.padEnd(digits, '0'));
  return text.startsWith('-') ? -units : units;
}

const total = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, each) => sum + each, 0n);

function discountOf(word: string, price: bigint, digits: number): bigint {
  if (word.endsWith('%')) return percentOf(word, price);
  const amount = unitsOf(word, digits);
  return amount < price ? amount : price;
}

/** Half a unit is rounded up. */
function percentOf(word: string, price: bigint): bigint {
  const thousandths = unitsOf(word.slice(0, -1), 3);
  return (2n * price * thousandths + 100_000n) / 200_000n;
}

/** Largest remainder: whole units first, then one each to those of whom most is missing. */
function sharedOut(amount: bigint, weights: readonly bigint[]): readonly bigint[] {
  const whole = total(weights);
  if (whole === 0n) return weights.map(() => 0n);
  const shares = weights.map((weight) => (amount * weight) / whole);
  const missing = weights.map((weight, index) => amount * weight - (shares[index] ?? 0n) * whole);
  for (let left = amount - total(shares); left > 0n; left -= 1n) {
    let most = 0;
    missing.forEach((each, index) => {
      if (each > (missing[most] ?? 0n)) most = index;
    });
    shares[most] = (shares[most] ?? 0n) + 1n;
    missing[most] = -1n;
  }
  return shares;
}
