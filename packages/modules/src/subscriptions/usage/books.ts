import type { AskingContext } from '@counterfoil/engine/define';
import {
  type DecimalText,
  decimal,
  type Instant,
  type Span,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import { type LineCommitment, rateCommitment } from '../../rating/index.ts';
import type { SettlementCommitment } from '../settlement/index.ts';
import { billingPeriodsIn } from './billing-periods.ts';
import { type Bill, type BilledUsage, pastBills, runningBill } from './bills.ts';
import { allowancesOf, partOf } from './charges.ts';
import { windowedCommitment } from './held.ts';
import { type Charging, exactCostOf, type RatedUsage, ratedUsage } from './rated-line.ts';

/** A part of a span in which usage is billed together, as far as that is known. */
export interface Piece extends BilledUsage {
  /** Null for time that no settlement is known for. */
  readonly bill: Bill | null;
  readonly part: Span;
}

/** The usage of one subscription as it was billed and will be, each period of a line rated once. */
export class Books {
  readonly #context: AskingContext;
  readonly #charging: Omit<Charging, 'allowances' | 'billing'>;
  readonly #count: (period: string) => void;
  readonly #running: Bill | null;
  readonly #rated = new Map<string, Promise<RatedUsage>>();
  #past: Promise<readonly Bill[]> | null = null;
  #allowances: Promise<Charging['allowances']> | null = null;

  /** @param count told of each period of a line that is rated, before it is; may refuse further ones */
  constructor(
    context: AskingContext,
    charging: Omit<Charging, 'allowances' | 'billing'>,
    count: (period: string) => void,
  ) {
    this.#context = context;
    this.#charging = charging;
    this.#count = count;
    this.#running = runningBill(charging.state);
  }

  /** The billing periods of usage of a meter that meet a span. */
  async piecesOf(meterId: string, span: Span): Promise<readonly Piece[]> {
    const { opened } = this.#charging.state;
    const past = opened === null || span.start < opened.start ? await this.#pastBills() : [];
    const bills = this.#running === null ? past : [...past, this.#running];
    const billed = bills.flatMap((bill) => bill.usage.map((usage) => ({ ...usage, bill })));
    const own = billed.filter(({ line }) => line.price.meter_id === meterId);
    const rest = this.#unbilled(meterId, span, own);
    return [...own, ...rest].flatMap((each) => {
      const start = each.span.start > span.start ? each.span.start : span.start;
      const end = each.span.end < span.end ? each.span.end : span.end;
      if (start >= end) return [];
      this.#count(periodOf(each));
      return [{ ...each, part: { start, end } }];
    });
  }

  /** The charge of a piece for the usage up to an instant: net, with what is above a commitment times its factor. */
  async costUpTo({ bill, ...usage }: Piece, at: Instant): Promise<DecimalText> {
    const all = bill?.held.find(({ line_item_id }) => line_item_id === null);
    if (bill === null || !all) return this.#netUpTo(bill, usage, at);
    const lines = [];
    for (const each of bill.usage) {
      lines.push({ line_id: each.line.id, amount: await this.#netUpTo(bill, each, at) });
    }
    const earlier = await this.#usedBefore(bill, all);
    const rated = rateCommitment({
      ...{ currency: this.#charging.state.currency, lines, trues_up: false },
      ...{ committed: all.committed, overage_factor: all.overage_factor },
      prior: sumOf(earlier.map(({ net }) => net.amount)),
    });
    const place = bill.usage.findIndex(
      ({ line, span }) => line.id === usage.line.id && span.start === usage.span.start,
    );
    const share = rated.lines[place];
    return share ? sumOf([share.utilized, share.overage]) : zeroText;
  }

  /** The periods of lines after what is billed, such as those that are to come, or longer than those of the subscription. */
  #unbilled(meterId: string, span: Span, billed: readonly BilledUsage[]): Omit<Piece, 'part'>[] {
    const { state } = this.#charging;
    const lines = state.lines.filter(
      ({ price }) => price.type === 'USAGE' && price.meter_id === meterId,
    );
    return lines.flatMap((line) => {
      const ends = billed.flatMap((each) => (each.line.id === line.id ? [each.span.end] : []));
      const known = ends.sort().at(-1);
      const start = known !== undefined && known > span.start ? known : span.start;
      const part = start < span.end ? partOf(line, state, { start, end: span.end }) : null;
      if (part === null) return [];
      return billingPeriodsIn(state, line, part).flatMap((billing) => {
        const own = partOf(line, state, billing);
        return own === null ? [] : [{ line, span: own, bill: null }];
      });
    });
  }

  async #netUpTo(bill: Bill | null, usage: BilledUsage, at: Instant): Promise<DecimalText> {
    const { start } = usage.span;
    const end = at < usage.span.end ? at : usage.span.end;
    if (end <= start) return zeroText;
    const commitment = await this.#commitmentOf(bill, usage);
    return (await this.#rate(usage, end, commitment)).net.amount;
  }

  /** The commitment of the line; null for none. */
  async #commitmentOf(bill: Bill | null, { line }: BilledUsage): Promise<LineCommitment | null> {
    if (line.commitment?.windowed) {
      return windowedCommitment(line.price, line.commitment, this.#context.now);
    }
    const own = bill?.held.find(({ line_item_id }) => line_item_id === line.id);
    if (!bill || !own) return null;
    const { committed: amount, overage_factor, true_up } = own;
    const earlier = await this.#usedBefore(bill, own);
    return {
      kind: 'term',
      terms: { committed: { kind: 'amount', amount }, overage_factor, true_up },
      prior: sumOf(earlier.map(({ net }) => exactCostOf(net))),
      closes_term: false,
    };
  }

  /** The usage of earlier bills that counts for a commitment, rated as it was billed. */
  async #usedBefore(
    bill: Bill,
    { line_item_id, span }: SettlementCommitment,
  ): Promise<readonly RatedUsage[]> {
    const { opened } = this.#charging.state;
    // It begins with the period that runs: nothing was billed of that.
    if (bill === this.#running && opened !== null && span.start >= opened.start) return [];
    const past = await this.#pastBills();
    const before = bill === this.#running ? past : past.slice(0, past.indexOf(bill));
    const used = before
      .flatMap(({ usage }) => usage)
      .filter((each) => line_item_id === null || each.line.id === line_item_id)
      .filter((each) => each.span.start >= span.start);
    const rated: RatedUsage[] = [];
    for (const each of used) rated.push(await this.#rate(each, each.span.end, null));
    return rated;
  }

  /** Each stretch is asked for several times: as the end of one part, the start of another, and by other lines. */
  #rate(usage: BilledUsage, end: Instant, commitment: LineCommitment | null): Promise<RatedUsage> {
    const key = `${periodOf(usage)} ${end} ${commitment === null}`;
    const known = this.#rated.get(key);
    if (known) return known;
    this.#count(periodOf(usage));
    const rated = this.#ratedUpTo(usage, end, commitment);
    this.#rated.set(key, rated);
    return rated;
  }

  async #ratedUpTo(
    { line, span: billing }: BilledUsage,
    end: Instant,
    commitment: LineCommitment | null,
  ): Promise<RatedUsage> {
    this.#allowances ??= allowancesOf(this.#context, this.#charging.state);
    const charging = { ...this.#charging, allowances: await this.#allowances, billing };
    const span = { start: billing.start, end };
    const commitments = commitment && { gross: commitment, net: commitment };
    return ratedUsage(this.#context, charging, line, span, commitments);
  }

  #pastBills(): Promise<readonly Bill[]> {
    this.#past ??= pastBills(this.#context, this.#charging.state.id);
    return this.#past;
  }
}

/** Tells the billing periods of all lines apart. */
const periodOf = ({ line, span }: BilledUsage): string => `${line.id} ${span.start}`;

const sumOf = (amounts: readonly DecimalText[]): DecimalText =>
  textOf(amounts.reduce((sum, amount) => sum.plus(decimal(amount)), zero));
