/** A settlement as the API shows it, as far as a timeline tells it. */
export interface ShownSettlement {
  readonly at: string;
  readonly reason: string;
  readonly charge_amount: string;
  readonly credit_amount: string;
  readonly net_amount: string;
  readonly lines: readonly ShownLine[];
}

interface ShownLine {
  readonly kind: 'charge' | 'credit' | 'usage';
  readonly line_item_id: string;
  readonly span: { readonly start: string; readonly end: string };
  readonly amount?: string | undefined;
}

/** Everything that a timeline tells of a subscription. */
export interface Simulated {
  readonly currency: string;
  /** Oldest first. */
  readonly settlements: readonly ShownSettlement[];
  /** The names of its lines by id. */
  readonly names: ReadonlyMap<string, string>;
  readonly end: { readonly at: string; readonly status: string };
}

const reasonWidth = 17;
const amountWidth = 12;

/** The timeline of a subscription, one text for each line: what was settled when, and the sum of it. */
export function timeline({ currency, settlements, names, end }: Simulated): string[] {
  const charged = sumOf(settlements.map(({ charge_amount }) => charge_amount));
  const credited = sumOf(settlements.map(({ credit_amount }) => credit_amount));
  return [
    ...settlements.flatMap((settlement) => entry(settlement, names)),
    `${instant(end.at)}  ${end.status}`,
    `charged ${charged}, credited ${credited} ${currency}, usage not included`,
  ];
}

function entry({ at, reason, net_amount, lines }: ShownSettlement, names: Simulated['names']) {
  const head = `${instant(at)}  ${reason.padEnd(reasonWidth)}${net_amount.padStart(amountWidth)}`;
  return [head, ...lines.map((line) => detail(line, names))];
}

function detail({ kind, line_item_id, span, amount = '' }: ShownLine, names: Simulated['names']) {
  const name = names.get(line_item_id) ?? line_item_id;
  const figure = (kind === 'credit' ? `-${amount}` : amount).padStart(amountWidth);
  const time = `${instant(span.start)} – ${instant(span.end)}`;
  return `  ${kind.padEnd(8)}${figure}  ${name}, ${time}`;
}

/** An instant for people: without its clock time at midnight in UTC. */
const instant = (text: string): string =>
  text.replace(/T00:00:00(?:\.000)?Z$/, '').replace(/\.000Z$/, 'Z');

const places = 10;

/** The sum of decimals, exact to ten places: more than any currency has. */
function sumOf(amounts: readonly string[]): string {
  const units = amounts.reduce((sum, amount) => {
    const [whole = '0', fraction = ''] = amount.split('.');
    return sum + BigInt(whole + fraction.padEnd(places, '0'));
  }, 0n);
  const digits = String(units).padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return digits.slice(0, -places) + (fraction === '' ? '' : `.${fraction}`);
}
