import { type History, isCredit, isEntry } from '../history.ts';
import { amountPlaces, creditsOf, halfEven, ratePlaces, unitsOf } from '../units.ts';
import { checker, must } from './fault.ts';

const amountOf = (text: string): bigint => unitsOf(text, amountPlaces);

/**
 * I1: every entry moves as much out of the wallet as into its contra account, and its amount is its
 * credits at the rate of the wallet: exactly, or, where an amount was paid, the credits are the amount
 * divided by the rate, half to even at 9 digits.
 */
export const checkConservation = checker('I1', (history: History) => {
  const [first] = history;
  let moved = 0n;
  let contra = 0n;
  let balance = '0';
  for (const event of history.filter(isEntry)) {
    const { data, type } = event;
    const credits = creditsOf(data.credits);
    must(credits > 0n, event, 'moves no credits');
    const rateName = type === 'CreditsLoaded' ? 'topup_conversion_rate' : 'conversion_rate';
    must(data[rateName] === first?.data[rateName], event, `is at another ${rateName}`);
    const rate = unitsOf(data[rateName], ratePlaces);
    const amount = amountOf(data.amount);
    const isExact = amount === credits * rate;
    // Both figures are in their smallest parts: 9 digits of credits, 19 of amounts.
    const isBought = type === 'CreditsLoaded' && halfEven(amount, rate) === credits;
    must(isExact || isBought, event, `${data.credits} credits are not worth ${data.amount}`);
    const change = isCredit(event) ? credits : -credits;
    moved += change;
    contra -= change;
    const step = creditsOf(data.credit_balance_after) - creditsOf(data.credit_balance_before);
    must(step === change, event, `changes the balance by another amount than ${data.credits}`);
    balance = data.credit_balance_after;
  }
  must(moved + contra === 0n, null, 'credits came from nowhere');
  must(creditsOf(balance) === moved, null, `the balance is ${balance}, and not what was moved`);
});

/** I2: entries form a chain of balances, and neither revisions nor numbers of entries have gaps. */
export const checkBalanceChain = checker('I2', (history: History) => {
  let balance = '0';
  let number = 0;
  let at = '';
  for (const [revision, event] of history.entries()) {
    must(event.revision === revision, event, `stands where revision ${revision} should be`);
    must(event.metadata.occurred_at >= at, event, 'happened before the event it follows');
    at = event.metadata.occurred_at;
    if (!isEntry(event)) continue;
    const { sequence, credit_balance_before, credit_balance_after, credits } = event.data;
    number += 1;
    must(sequence === number, event, `is entry ${sequence}, should be ${number}`);
    must(credit_balance_before === balance, event, `begins at ${credit_balance_before}`);
    const sign = isCredit(event) ? 1n : -1n;
    const after = creditsOf(balance) + sign * creditsOf(credits);
    must(creditsOf(credit_balance_after) === after, event, `ends at ${credit_balance_after}`);
    balance = credit_balance_after;
  }
});
