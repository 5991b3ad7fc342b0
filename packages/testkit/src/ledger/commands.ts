/**
 * The requests of clients about one wallet, as they go over the wire. Figures and times are texts.
 */

export interface CreateBody {
  readonly customer_id: string;
  readonly currency: string;
  readonly wallet_type?: 'PRE_PAID' | 'POST_PAID';
  readonly conversion_rate?: string;
  readonly topup_conversion_rate?: string;
  readonly initial_credits_to_load?: string;
  readonly initial_credits_expiry_date_utc?: string;
  readonly alert_settings?: AlertBody;
  readonly auto_topup?: AutoTopUpBody;
  readonly allow_multiple?: boolean;
  readonly priority?: number;
}

export interface AlertBody {
  readonly alert_enabled?: boolean;
  readonly critical?: ThresholdBody;
  readonly warning?: ThresholdBody;
  readonly info?: ThresholdBody;
}

export interface ThresholdBody {
  readonly threshold: string;
  readonly condition?: 'below' | 'above';
}

export interface TopUpBody {
  readonly transaction_reason: string;
  readonly credits_to_add?: string;
  readonly amount?: string;
  readonly expiry_date_utc?: string;
  readonly priority?: number;
  readonly bonus_credits_to_add?: string;
  readonly bonus_credits_expiry_date_utc?: string;
  readonly effective_at?: string;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface DebitBody {
  readonly credits: string;
  readonly allow_partial?: boolean;
  readonly transaction_reason?: string;
  readonly effective_at?: string;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface ReverseBody {
  readonly credits?: string;
  readonly expiry_date_utc?: string;
}

export interface HoldBody {
  readonly credits: string;
  readonly expires_at?: string;
  readonly description?: string;
}

export interface AutoTopUpBody {
  readonly enabled: boolean;
  readonly amount: string;
  readonly threshold: string;
  readonly invoicing?: boolean;
  readonly daily_limit?: number;
}

export interface SettingsBody {
  readonly name?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly alert_settings?: AlertBody | null;
  readonly auto_topup?: AutoTopUpBody | null;
  readonly priority?: number | null;
}

/** A debit over the wallets of a customer: of money, or of credits. */
export interface CustomerDebitBody {
  readonly currency: string;
  readonly amount?: string;
  readonly credits?: string;
  readonly allow_partial?: boolean;
  readonly effective_at?: string;
  readonly transaction_reason?: string;
  readonly description?: string;
}

export type BulkEntryBody =
  | {
      readonly type: 'credit';
      readonly credits: string;
      readonly transaction_reason?: string;
      readonly expiry_date_utc?: string;
      readonly priority?: number;
      readonly effective_at?: string;
    }
  | {
      readonly type: 'debit';
      readonly credits: string;
      readonly allow_partial?: boolean;
      readonly effective_at?: string;
    };

export interface BulkBody {
  readonly atomic?: boolean;
  readonly entries: readonly BulkEntryBody[];
}

/** A request that the rules of the wallet decide on. */
export type Command =
  | { readonly kind: 'create'; readonly body: CreateBody }
  | { readonly kind: 'top-up'; readonly body: TopUpBody }
  | { readonly kind: 'debit'; readonly body: DebitBody }
  | { readonly kind: 'hold'; readonly body: HoldBody }
  | {
      readonly kind: 'capture';
      readonly hold: string;
      readonly body: { readonly credits?: string; readonly final?: boolean };
    }
  | {
      readonly kind: 'change-hold';
      readonly hold: string;
      readonly body: { readonly credits?: string; readonly expires_at?: string };
    }
  | { readonly kind: 'void'; readonly hold: string }
  | { readonly kind: 'reverse'; readonly entry: string; readonly body: ReverseBody }
  | { readonly kind: 'settings'; readonly body: SettingsBody }
  | { readonly kind: 'bulk'; readonly body: BulkBody }
  | { readonly kind: 'complete' | 'cancel'; readonly order: string }
  | { readonly kind: 'terminate' }
  | { readonly kind: 'freeze' | 'unfreeze' };

/** A request that is wrong by its form: it is refused before anybody looks at the wallet. */
export interface BadCommand {
  readonly kind: 'bad';
  readonly of: 'top-up' | 'debit' | 'hold' | 'bulk' | 'settings';
  readonly body: unknown;
  /** The place of the fault. */
  readonly pointer: string;
}

export type AnyCommand = Command | BadCommand;

/** A request to all wallets of a customer. */
export interface CustomerCommand {
  readonly kind: 'debit-customer';
  readonly customer: string;
  readonly body: CustomerDebitBody;
}

/** The hold, order or entry that a command is about; empty for none. */
export function targetOf(command: AnyCommand | CustomerCommand): string {
  if ('hold' in command) return command.hold;
  if ('order' in command) return command.order;
  return 'entry' in command ? command.entry : '';
}

/** The target of a command: the route, and what stands in its path. */
export interface WireCommand {
  readonly route: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const routes = {
  'top-up': 'POST /wallets/{id}/top-up',
  debit: 'POST /wallets/{id}/debit',
  hold: 'POST /wallets/{id}/holds',
  settings: 'PUT /wallets/{id}',
  bulk: 'POST /wallets/{id}/transactions/bulk',
  freeze: 'POST /wallets/{id}/freeze',
  unfreeze: 'POST /wallets/{id}/unfreeze',
  terminate: 'POST /wallets/{id}/terminate',
  capture: 'POST /wallets/{id}/holds/{hold_id}/capture',
  void: 'POST /wallets/{id}/holds/{hold_id}/void',
  'change-hold': 'PUT /wallets/{id}/holds/{hold_id}',
  reverse: 'POST /wallets/{id}/transactions/{transaction_id}/reverse',
  complete: 'POST /wallets/transactions/{id}/complete',
  cancel: 'POST /wallets/transactions/{id}/cancel',
  create: 'POST /wallets',
  'debit-customer': 'POST /customers/{id}/debit',
} as const;

/** A command for a wallet, or for a customer, as a request. */
export function wired(command: AnyCommand | CustomerCommand, recordId: string): WireCommand {
  const route = routes[command.kind === 'bad' ? command.of : command.kind];
  const all = {
    id: 'order' in command ? command.order : recordId,
    hold_id: 'hold' in command ? command.hold : '',
    transaction_id: 'entry' in command ? command.entry : '',
  };
  const names = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as keyof typeof all);
  const params = Object.fromEntries(names.map((name) => [name, all[name]]));
  const [, pattern = ''] = route.split(' ');
  return {
    route,
    path: pattern.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof all) => all[name]),
    params,
    body: 'body' in command ? command.body : undefined,
  };
}
