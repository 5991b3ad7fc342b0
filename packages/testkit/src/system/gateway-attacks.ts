import { headers, type NatsConnection } from 'nats';

/** An attack that a client with credentials may try. */
export type Attack =
  | { readonly kind: 'subscribe'; readonly subject: string }
  | {
      readonly kind: 'publish';
      readonly subject: string;
      readonly body: string;
      readonly reply: string;
      /** The client that it pretends to be to JetStream; none when absent. */
      readonly client?: string;
    };

/** A reader, as another one would know it. */
interface Target {
  readonly consumer: string;
  /** Such as `billing.v1.<tenant>.<environment>`. */
  readonly prefix: string;
  /** Such as `usage.v1.<tenant>.<environment>`. */
  readonly sending: string;
}

const answers = '_INBOX.attacker.answers';
const oneMessage = { batch: 1, no_wait: true };
const words = ['', '+ACK', '-NAK', '+TERM', '+WPI', '+NXT', '+NXT {"batch":1,"no_wait":true}'];

type Message = Extract<Attack, { readonly kind: 'publish' }>;

const publish = (subject: string, body: string | object = '', reply = answers): Message => ({
  kind: 'publish',
  subject,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  reply,
});

const next = (consumer: string) => `$JS.API.CONSUMER.MSG.NEXT.BILLING.${consumer}`;
const place = (consumer: string) => `$JS.ACK.BILLING.${consumer}.1.1.1.1.1`;
const forged = ({ prefix }: Target) => `${prefix}.customer.cust_1.created`;

/** To hear messages that are not meant for it. */
const listening = (own: Target, other: Target): readonly Attack[] =>
  [
    ...['>', '*', '*.>', 'billing.>', 'live.>', `${own.prefix}.>`, `${other.prefix}.>`],
    ...[`live.${other.prefix}.>`, '_INBOX.victim.>', '$JS.>', '$JS.ACK.>', '$JS.EVENT.>'],
    ...['$SYS.>', '_R_.>', '_R_.*.*', '_GR_.>', '$LDS.>'],
    ...['usage.>', own.sending, other.sending, 'sent.>', `sent.${other.sending}.>`],
  ].map((subject) => ({ kind: 'subscribe', subject }));

/** To have an answer, which the server sends, go where it may not write itself; and to write there. */
const writing = (own: Target, other: Target): readonly Attack[] =>
  [
    ...[forged(other), `live.${forged(other)}`, forged(own), `live.${forged(own)}`],
    ...['_INBOX.victim.answers', `${answers}@${forged(other)}`, place(other.consumer)],
    ...['$JS.API.STREAM.PURGE.BILLING', '$JS.counterfoil.API.STREAM.PURGE.BILLING'],
    ...[`$JS.API.CONSUMER.DELETE.BILLING.${other.consumer}`, '$SYS.REQ.CLAIMS.UPDATE'],
    ...['_R_.a.b', '_GR_.a.b.c', '$LDS.a', '$LMC.a'],
    other.sending,
  ].flatMap((where) => [
    // Refused as usage; the refusal is to go there.
    publish(own.sending, '{}', where),
    publish(next(own.consumer), oneMessage, where),
    publish(`$JS.API.CONSUMER.INFO.BILLING.${own.consumer}`, '', where),
    ...words.map((word) => publish(place(own.consumer), word, where)),
    publish(where, '{}'),
  ]);

const usage = { event_name: 'forged', external_customer_id: 'acme' };

/** To send usage to another environment, or for another API key. */
const sending = (own: Target, other: Target): readonly Attack[] =>
  [
    other.sending,
    ...[`sent.${other.sending}`, `sent.${own.sending}`].flatMap((subject) => [
      subject,
      `${subject}.secret_1.AAAAAAAAAAAAAAAAAAAAAA`,
    ]),
    'sent.usage.v1.*.*.*.*',
    'usage.v1.*.*',
  ].map((subject) => publish(subject, usage));

const consumer = (config: object) => ({ stream_name: 'BILLING', config });

/** To have JetStream do what is for its masters. */
const commanding = (own: Target, other: Target): readonly Attack[] => {
  const stolen = { ack_policy: 'none', filter_subject: `${other.prefix}.>` };
  const commands: readonly (readonly [string, object?])[] = [
    ...['INFO', 'STREAM.NAMES', 'STREAM.LIST', 'STREAM.INFO.BILLING'].map(
      (verb) => [verb] as const,
    ),
    ['STREAM.MSG.GET.BILLING', { seq: 1 }],
    ['STREAM.MSG.GET.BILLING', { last_by_subj: `${other.prefix}.>` }],
    ['DIRECT.GET.BILLING', { seq: 1 }],
    ['STREAM.CREATE.STOLEN', { name: 'STOLEN', sources: [{ name: 'BILLING' }] }],
    ['STREAM.SNAPSHOT.BILLING', { deliver_subject: answers }],
    ...['CONSUMER.NAMES.BILLING', 'CONSUMER.LIST.BILLING'].map((verb) => [verb] as const),
    [`CONSUMER.INFO.BILLING.${other.consumer}`],
    [`CONSUMER.MSG.NEXT.BILLING.${other.consumer}`, oneMessage],
    ['CONSUMER.CREATE.BILLING', consumer({ ...stolen, deliver_subject: answers })],
    [
      'CONSUMER.CREATE.BILLING',
      consumer({ ack_policy: 'none', deliver_subject: `live.${forged(other)}` }),
    ],
    ['CONSUMER.DURABLE.CREATE.BILLING.stolen', consumer({ ...stolen, durable_name: 'stolen' })],
    [
      `CONSUMER.DURABLE.CREATE.BILLING.${own.consumer}`,
      consumer({ ...stolen, durable_name: own.consumer }),
    ],
    [`CONSUMER.DELETE.BILLING.${other.consumer}`],
    ['STREAM.MSG.DELETE.BILLING', { seq: 1 }],
    ['STREAM.UPDATE.BILLING', { name: 'BILLING', subjects: ['nothing'] }],
    ['STREAM.PURGE.BILLING'],
    ['STREAM.DELETE.BILLING'],
  ];
  return commands.flatMap(([verb, body]) => [
    publish(`$JS.API.${verb}`, body),
    publish(`$JS.counterfoil.API.${verb}`, body),
  ]);
};

/** To be taken for somebody else, by JetStream or by the server itself. */
const pretending = (own: Target): readonly Attack[] => [
  ...['$G', '$SYS', 'service'].map(
    (account): Attack => ({
      ...publish(next(own.consumer), oneMessage),
      client: JSON.stringify({ acc: account, svc: account }),
    }),
  ),
  ...['PING', 'CONNZ', 'SUBSZ', 'INFO'].flatMap((what) => [
    publish(`$SYS.REQ.SERVER.PING.${what}`),
    publish(`$SYS.REQ.ACCOUNT.PING.${what}`),
  ]),
  ...['LIST', 'PACK', 'UPDATE', 'DELETE'].map((what) => publish(`$SYS.REQ.CLAIMS.${what}`)),
];

/** Everything that was thought of for somebody with credentials for one consumer, or to send usage. */
export const attacksOn = (own: Target, other: Target): readonly Attack[] => [
  ...listening(own, other),
  ...writing(own, other),
  ...sending(own, other),
  ...words.map((word) => publish(place(other.consumer), word)),
  ...pretending(own),
  ...commanding(own, other),
];

/** Tries it, and reports what is heard from then on. Whether it is refused does not matter. */
export function attempt(
  connection: NatsConnection,
  attack: Attack,
  hear: (subject: string, body: string) => void,
): void {
  if (attack.kind === 'subscribe') {
    connection.subscribe(attack.subject, {
      callback: (error, message) => void (error || hear(message.subject, message.string())),
    });
    return;
  }
  const { subject, body, reply, client } = attack;
  const pretence = headers();
  if (client !== undefined) pretence.set('Nats-Request-Info', client);
  connection.publish(subject, body, {
    reply,
    ...(client === undefined ? {} : { headers: pretence }),
  });
}
