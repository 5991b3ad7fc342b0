import type { Account } from '@nats-io/jwt';
import type { GatewayAccess, ReaderAccess, SenderAccess } from '../define/event-gateway.ts';
import {
  livePrefix,
  publicStream,
  publicSubjects,
  readerSubjects,
  sendingSubject,
} from '../define/subject.ts';
import type { GatewayKeys } from './keys.ts';
import { sentSubject, sentSubjects } from './sent-subject.ts';

/**
 * The name of the broker's JetStream domain. Requests to JetStream cross from one server to another
 * only under the name of a domain.
 */
const brokerDomain = 'counterfoil';

/**
 * An answer in several messages is given up after this much silence. Requests for messages that
 * wait longer than that need heart beats.
 */
const silenceNanoseconds = 60 * 1_000_000_000;

type Import = Omit<NonNullable<Account['imports']>[number], 'account'>;

/** All that a system outside reaches, with its account and its permissions in it. */
interface Reach {
  /** The parts of the service's account that its own takes. Nothing else is in it. */
  readonly imports: readonly Import[];
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** The bytes of one message that it sends, headers included. Those that it receives do not count. */
  readonly payload: number;
}

/** The subjects to which answers come. They mean something in the account alone. */
const inbox = '_INBOX.>';

const next = (consumer: string) => `CONSUMER.MSG.NEXT.${publicStream}.${consumer}`;
const information = (consumer: string) => `CONSUMER.INFO.${publicStream}.${consumer}`;
const acknowledgements = (consumer: string) => `$JS.ACK.${publicStream}.${consumer}.>`;
const atBroker = (request: string) => `$JS.${brokerDomain}.API.${request}`;
const inAccount = (request: string) => `$JS.API.${request}`;

const answers = { response_type: 'Stream', response_threshold: silenceNanoseconds } as const;

/** All that the account of the service offers, to those whose claims name it. */
export const serviceExports: NonNullable<Account['exports']> = [
  { name: 'messages', type: 'service', subject: atBroker(next('*')), ...answers },
  { name: 'state', type: 'service', subject: atBroker(information('*')) },
  { name: 'confirm', type: 'service', subject: acknowledgements('*'), ...answers },
  { name: 'live', type: 'stream', subject: `${livePrefix}.${publicSubjects}` },
  { name: 'sent', type: 'service', subject: sentSubjects, response_threshold: silenceNanoseconds },
];

/** The subject of a reader's new events without JetStream: at most once, and without those it missed. */
export const liveSubject = ({
  scope,
  resource,
}: Pick<ReaderAccess, 'scope' | 'resource'>): string =>
  `${livePrefix}.${readerSubjects(scope, resource)}`;

/** All that a system outside reaches. */
export function reachOf(keys: Pick<GatewayKeys, 'mark'>, access: GatewayAccess): Reach {
  switch (access.kind) {
    case 'reader':
      return reachOfReader(access);
    case 'sender':
      return reachOfSender(keys, access);
    default:
      return access satisfies never;
  }
}

/** Requests and acknowledgements are short. */
const requestBytes = 4_096;

/** A reader reaches its own consumer and its own live subjects. */
function reachOfReader(access: ReaderAccess): Reach {
  const { name } = access;
  const live = liveSubject(access);
  const request = (text: string) => ({
    type: 'service' as const,
    subject: atBroker(text),
    local_subject: inAccount(text),
  });
  return {
    imports: [
      { name: 'messages', ...request(next(name)) },
      { name: 'state', ...request(information(name)) },
      { name: 'confirm', type: 'service', subject: acknowledgements(name) },
      { name: 'live', type: 'stream', subject: live },
    ],
    publish: [...[next(name), information(name)].map(inAccount), acknowledgements(name)],
    subscribe: [inbox, live],
    payload: requestBytes,
  };
}

/** Brokers take 1 MiB unless told otherwise, and end the link with the gateway over a larger message. */
const sentBytes = 1_000_000;

/** A sender reaches one subject, and the answers to what it sends there. */
function reachOfSender(keys: Pick<GatewayKeys, 'mark'>, access: SenderAccess): Reach {
  const sending = sendingSubject(access.intake, access.scope);
  const subject = sentSubject(keys, access);
  return {
    imports: [{ name: 'sent', type: 'service', subject, local_subject: sending }],
    publish: [sending],
    subscribe: [inbox],
    payload: sentBytes,
  };
}
