import { isDeepStrictEqual } from 'node:util';
import { differingFields } from '../answers.ts';
import { targetOf } from '../commands.ts';
import type { AnyExchange } from '../exchange.ts';
import { type Data, groupsOf, type History, isEntry, newIdsIn } from '../history.ts';
import { checker, must } from './fault.ts';

/** A ledger, and the requests that made it. */
export interface Requested {
  readonly history: History;
  readonly exchanges: readonly AnyExchange[];
}

const operationOf = ({ command, key }: AnyExchange): string =>
  `${command.kind} ${targetOf(command)} ${key}`;

const bodyOf = ({ command }: AnyExchange): Data =>
  'body' in command ? (command.body as Data) : {};

/**
 * I5: a key has at most one effect; a repetition of the request gets the first answer again, word
 * for word; another body with the same key is refused, with the fields that differ.
 */
export const checkKeys = checker('I5', ({ history, exchanges }: Requested) => {
  const seen = new Set<string>();
  for (const { events } of groupsOf(history)) {
    const [first, ...others] = events;
    const request = first?.metadata.request;
    for (const event of others) must(!event.metadata.request, event, 'is marked in the middle');
    if (!request || !first) continue;
    must(!seen.has(request.key), first, 'a key has its effect for the second time');
    seen.add(request.key);
    must(request.events === events.length, first, `counts ${request.events} events of its request`);
  }
  const operations = new Set(exchanges.filter(({ key }) => key !== null).map(operationOf));
  for (const operation of operations) {
    assertSameAnswers(
      history,
      exchanges.filter((exchange) => operationOf(exchange) === operation),
    );
  }
});

/** Answers to one key of one operation. */
function assertSameAnswers(history: History, exchanges: readonly AnyExchange[]): void {
  const first = exchanges.find(({ requestId }) =>
    history.some(({ metadata }) => metadata.$correlationId === requestId),
  );
  if (!first?.answer || first.key === null || first.answer.status >= 500) return;
  for (const exchange of exchanges) {
    const { answer, requestId } = exchange;
    if (!answer || answer.status >= 500 || exchange.sent < first.answered) continue;
    if (exchange.command.kind === 'bad') continue;
    const fields = differingFields(bodyOf(exchange), bodyOf(first));
    if (fields.length > 0) {
      must(answer.status === 409, null, `${requestId} used the key of another request`);
      const named: unknown = answer.body.details?.fields;
      must(isDeepStrictEqual(named, fields), null, `${requestId} was told ${named}`);
    } else {
      const isSame =
        answer.status === first.answer.status &&
        isDeepStrictEqual(
          { ...answer.body, instance: null },
          { ...first.answer.body, instance: null },
        );
      must(isSame, null, `${requestId} was answered otherwise than ${first.requestId}`);
    }
  }
}

/** A message of the public stream about the wallet. */
export interface Published {
  readonly type: string;
  readonly revision: number;
  readonly text: string;
}

/**
 * I6: every acknowledged request is in the log, once; and, where the public stream is given, every
 * entry is published once and in order, and nothing that the log does not have.
 */
export const checkDurability = checker(
  'I6',
  ({
    history,
    exchanges,
    published,
  }: Requested & { readonly published?: readonly Published[] }) => {
    const entries = new Map(
      history.filter(isEntry).map((event) => [event.data.transaction_id, event]),
    );
    must(entries.size === history.filter(isEntry).length, null, 'an entry is there twice');
    const orders = new Set(newIdsIn(history).orders);
    for (const { answer, requestId } of exchanges) {
      for (const id of acknowledged(answer?.body ?? {})) {
        must(
          entries.has(id) || orders.has(id),
          null,
          `${requestId} was told of ${id}, which is not in the log`,
        );
      }
    }
    if (published) assertPublished(history, published);
  },
);

const acknowledged = ({ wallet_transaction, results = [] }: Data): string[] =>
  [wallet_transaction, ...results.map((result: Data) => result.wallet_transaction)].flatMap(
    (entry) => entry?.id ?? [],
  );

function assertPublished(history: History, published: readonly Published[]): void {
  let last = -1;
  for (const { revision, type } of published) {
    must(revision >= last, null, `revision ${revision} is published after ${last}`);
    must(revision < history.length, null, `${type} of revision ${revision} is not in the log`);
    last = revision;
  }
  const transactions = published.filter(({ type }) => type === 'wallet.transaction.created');
  const told = transactions.map(({ revision, text }) => [
    revision,
    JSON.parse(text).transaction.id,
  ]);
  const isTold = ({ type }: { readonly type: string }) =>
    isEntry({ type }) || type === 'TopUpRequested' || type === 'TopUpFailed';
  const right = history.filter(isTold).map(({ revision, data }) => [revision, data.transaction_id]);
  must(isDeepStrictEqual(told, right), null, 'not every entry is published once');
}
