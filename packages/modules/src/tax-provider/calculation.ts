import { type Asker, NotAnswered, SealBroken, type Sealer } from '@counterfoil/webhooks';
import { customer } from '../customers/index.ts';
import {
  exemptionOf,
  localTaxes,
  type TaxCalculation,
  type TaxContext,
  TaxesUnavailable,
  type TaxQuestion,
} from '../invoices/index.ts';
import type { TaxFailureReason } from '../taxes/index.ts';
import { sealingContext, type TaxProviderAddress, taxProvider, taxProviderId } from './account.ts';
import { readAnswer, taxesIn, WrongAnswer } from './answer.ts';
import { Pauses } from './pauses.ts';
import { askedLines, bodyOf, questionId } from './question.ts';

/** The limits of one question, in milliseconds and bytes. */
export const taxLimits = {
  invoiceTimeout: 8_000,
  previewTimeout: 3_000,
  answerBytes: 4 * 1024 * 1024,
} as const;

/** The parts of a calculation that asks tax providers. */
export interface TaxProviderOptions {
  /** Null in a process that has no secret key: where a provider is set, it cannot ask. */
  readonly sealer: Pick<Sealer, 'open'> | null;
  readonly asker: Asker;
  readonly limits?: typeof taxLimits | Readonly<Record<keyof typeof taxLimits, number>>;
  /** Milliseconds of a clock that only runs forward. */
  readonly elapsed: () => number;
}

/**
 * Taxes by the provider of the environment (ADR 59): where one is set, for lines that come to something, of customers who are not exempt. Taxes
 * that a request has named stand, whoever is set.
 */
export function taxesByProvider({
  sealer,
  asker,
  limits = taxLimits,
  elapsed,
}: TaxProviderOptions): TaxCalculation {
  const pauses = new Pauses(elapsed);
  return {
    taxation: async (context, question) => {
      if (question.named !== null) return localTaxes.taxation(context, question);
      const { environmentId } = context.principal;
      const address = (await context.load(taxProvider, taxProviderId))?.address ?? null;
      if (!address?.is_on) return localTaxes.taxation(context, question);
      const lines = askedLines(question);
      if (lines.length === 0) return { taxes: [], exemption: null };
      const { invoice, bill, purpose } = question;
      const exemption = await exemptionOf(context, invoice.customer_id);
      if (exemption !== null) return { taxes: [], exemption };
      const secret = openedSecret(sealer, address, environmentId);
      pauses.assertMayAsk(environmentId);
      try {
        const body = await askedBody(context, question, lines);
        const answer = await asker.ask({
          ...{ url: address.url, id: questionId(body), body, secret },
          timeout: purpose === 'preview' ? limits.previewTimeout : limits.invoiceTimeout,
          answerBytes: limits.answerBytes,
        });
        const taxes = taxesIn(readAnswer(answer), invoice.id, lines, bill.currency);
        return { taxes, exemption: null };
      } catch (error) {
        const failure = failureOf(error);
        if (failure.reason === 'timed_out' || failure.reason === 'unreachable') {
          pauses.begin(environmentId, failure);
        }
        throw failure;
      }
    },
  };
}

const askedBody = async (
  context: TaxContext,
  question: TaxQuestion,
  lines: ReturnType<typeof askedLines>,
): Promise<Uint8Array> =>
  bodyOf(
    context.principal,
    question,
    lines,
    await context.load(customer, question.invoice.customer_id),
  );

function openedSecret(
  sealer: TaxProviderOptions['sealer'],
  { secret }: TaxProviderAddress,
  environmentId: string,
): string {
  if (sealer === null) throw unavailable('not_usable', 'this process has no secret key to ask it');
  try {
    return sealer.open(secret, sealingContext(environmentId));
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    throw unavailable('not_usable', 'its secret was sealed under another key: set it again', error);
  }
}

/** The failure that an error of a question is. What is none is thrown again. */
function failureOf(error: unknown): TaxesUnavailable {
  if (error instanceof WrongAnswer) return unavailable('invalid_answer', error.message, error);
  if (!(error instanceof NotAnswered)) throw error;
  const reason = error.kind === 'too_large' ? 'invalid_answer' : error.kind;
  return unavailable(reason, error.message, error);
}

const messageMaximum = 500;

const unavailable = (
  reason: TaxFailureReason,
  message: string,
  cause?: unknown,
): TaxesUnavailable =>
  new TaxesUnavailable(
    reason,
    `The tax provider has not said which taxes apply: ${message}.`.slice(0, messageMaximum),
    cause,
  );
