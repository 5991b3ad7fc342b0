import {
  engineTypes,
  groupsOf,
  type History,
  type HistoryEvent,
  ongoingTypes,
  walletTypes,
} from '../history.ts';
import { creditsOf } from '../units.ts';
import { checker, must } from './fault.ts';
import { Replay } from './replay.ts';

/**
 * I9: a frozen wallet gives nothing (but for its termination), a closed one does nothing, states
 * change only in the ways that there are, and the alert state is a function of balance and settings,
 * with one event per crossing (D25 and D28).
 */
export const checkStates = checker('I9', (history: History) => {
  const replay = new Replay();
  for (const { events } of groupsOf(history)) {
    let crossings = 0;
    for (const event of events) {
      assertAllowed(replay, event);
      replay.take(event);
      // The alert is judged before an automatic top-up, and after it.
      if (event.type === 'CreditsLoaded' && event.data.automatic) crossings = 0;
      if (event.type === 'AlertStateChanged') crossings += 1;
      must(crossings <= 1, event, 'tells a crossing twice');
    }
    const last = events.at(-1) ?? null;
    if (replay.hasShare()) continue;
    const right = alertOf(replay);
    must(replay.alert === right, last, `the alert state is ${replay.alert}, should be ${right}`);
  }
});

function assertAllowed(replay: Replay, event: HistoryEvent): void {
  const { type, data } = event;
  if (engineTypes.includes(type)) return;
  must([...walletTypes, ...ongoingTypes].includes(type), event, `nobody knows ${type}`);
  must(replay.status !== 'closed', event, `${type} on a closed wallet`);
  const isFirst = event.revision === 0;
  must(isFirst === (type === 'WalletCreated'), event, `${type} is not in its place`);
  const isTermination = data.reason === 'WALLET_TERMINATION';
  // What a debit of the customer has set aside is taken whatever happens meanwhile.
  const isShare = replay.holds.get(data.hold_id)?.isShare ?? false;
  const isTaking = ['CreditsDebited', 'CreditsHeld', 'HoldCaptured'].includes(type) && !isShare;
  must(
    replay.status !== 'frozen' || !isTaking || isTermination,
    event,
    `${type} on a frozen wallet`,
  );
  if (type === 'WalletFrozen') must(replay.status === 'active', event, 'freezes a frozen wallet');
  if (type === 'WalletUnfrozen') must(replay.status === 'frozen', event, 'unfreezes an active one');
  if (type === 'WalletClosed') {
    must(
      replay.balance === 0n && replay.holds.size === 0,
      event,
      'closes a wallet that has credits',
    );
  }
  if (data.automatic && type !== 'TopUpFailed') {
    const isActive = replay.status === 'active' || data.requested;
    must(isActive, event, 'a wallet that is not active tops itself up');
    const { threshold, enabled } = replay.autoTopUp ?? {};
    const isNew = !data.requested;
    // What is owed, or was refused, is nothing that the ledger of a wallet shows.
    const isFor = ['refused_debit', 'ongoing'].includes(data.automatic.cause);
    const isLow = enabled && (isFor || replay.spendable() <= creditsOf(threshold));
    must(!isNew || isLow, event, 'tops itself up without need');
    must(!isNew || !replay.isWaiting(), event, 'orders twice');
    const { day, number } = data.automatic;
    const numbered = `${day} ${number}`;
    must(!isNew || !replay.automatic.has(numbered), event, 'has the number of another top-up');
  }
  if (type !== 'AlertStateChanged') return;
  must(data.before === replay.alert, event, `leaves ${data.before}, the state is ${replay.alert}`);
  must(data.after !== data.before, event, 'crosses nothing');
  must(creditsOf(data.available) === replay.spendable(), event, 'is told of other credits');
}

const levels = [
  ['critical', 'in_alarm'],
  ['warning', 'warning'],
  ['info', 'info'],
] as const;

/** The most severe level that what can be spent has reached, equality included. */
function alertOf(replay: Replay): string {
  const { alertSettings } = replay;
  if (!alertSettings?.alert_enabled) return 'ok';
  for (const [name, state] of levels) {
    const level = alertSettings[name];
    if (!level) continue;
    const over = replay.spendable() - creditsOf(level.threshold);
    if (level.condition === 'below' ? over <= 0n : over >= 0n) return state;
  }
  return 'ok';
}
