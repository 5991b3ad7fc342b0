import { createHash } from 'node:crypto';
import type { Account, ClaimsData, Generic, Operator, User } from '@nats-io/jwt';
import type { ReaderAccess } from '../define/event-gateway.ts';
import { livePrefix, publicStream, publicSubjects, readerSubjects } from '../define/subject.ts';
import type { GatewayKeys, Nkey } from './keys.ts';

/**
 * The name of the broker's JetStream domain. Requests to JetStream cross from one server to another
 * only under the name of a domain.
 */
export const brokerDomain = 'counterfoil';

/** Claims of one kind: https://github.com/nats-io/jwt, version 2 of the form. */
type Claims<Content> = Pick<ClaimsData<Content>, 'sub' | 'name' | 'iat' | 'exp' | 'nats'>;

/**
 * Signed claims as text. The same claims give the same text, with the time that the log gave them: of two
 * versions of an account, servers keep the one with the later `iat`. The makers' own encoder puts the
 * clock's time there (ADR 22).
 */
export function encodeClaims<Content>(signer: Nkey, { nats, ...claims }: Claims<Content>): string {
  const content = { ...claims, iss: signer.publicKey, nats: { ...nats, version: 2 } };
  const jti = createHash('sha256').update(JSON.stringify(content)).digest('base64url');
  const head = encodeJson({ typ: 'JWT', alg: 'ed25519-nkey' });
  const signed = `${head}.${encodeJson({ jti, ...content })}`;
  return `${signed}.${signer.sign(signed)}`;
}

const encodeJson = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');

/** The time claims were made, in seconds since 1970; 0 for a text that is no claims. */
export function secondsOfClaims(claims: string): number {
  try {
    const text = Buffer.from(claims.split('.')[1] ?? '', 'base64url').toString('utf8');
    const { iat } = JSON.parse(text) as { readonly iat?: unknown };
    return typeof iat === 'number' ? iat : 0;
  } catch {
    return 0;
  }
}

const secondsOf = (instant: string): number => Math.floor(Date.parse(instant) / 1000);

/** The time of the claims that no event changes; to be raised together with any change below. */
const writtenAt = secondsOf('2026-11-01T00:00:00Z');

const unlimited = -1;
const limitsOfOurs = {
  subs: unlimited,
  conn: unlimited,
  leaf: unlimited,
  imports: unlimited,
  exports: unlimited,
  data: unlimited,
  payload: unlimited,
  wildcards: true,
};

/** The limits of one set of credentials. It has no JetStream of its own. */
const limitsOfReader = {
  subs: 100,
  conn: 10,
  leaf: 0,
  imports: 4,
  exports: 0,
  data: unlimited,
  // Requests and acknowledgements are short. Messages that it receives do not count.
  payload: 4_096,
  wildcards: false,
};

/**
 * An answer in several messages is given up after this much silence. Requests for messages that
 * wait longer than that need heart beats.
 */
const silenceNanoseconds = 60 * 1_000_000_000;

/** The claims of the operator that a server of the gateway trusts. */
export const operatorClaims = ({ operator, system }: GatewayKeys): string =>
  encodeClaims<Operator>(operator, {
    sub: operator.publicKey,
    name: 'counterfoil',
    iat: writtenAt,
    nats: { type: 'operator', system_account: system.publicKey },
  });

/** The account of the processes that tell the gateway about accounts. */
export const systemClaims = ({ operator, system }: GatewayKeys): string =>
  encodeClaims<Account>(operator, {
    sub: system.publicKey,
    name: 'system',
    iat: writtenAt,
    nats: { type: 'account', limits: limitsOfOurs },
  });

/** The content of a `.creds` file for the system's user. */
export const systemCredentials = ({ system, systemUser }: GatewayKeys): string =>
  credentialsText(
    systemUser,
    encodeClaims<User>(system, {
      sub: systemUser.publicKey,
      name: 'counterfoil',
      iat: writtenAt,
      nats: { type: 'user', ...withoutUserLimits },
    }),
  );

/** Limits are those of the account. */
const withoutUserLimits = { subs: unlimited, data: unlimited, payload: unlimited };

const next = (consumer: string) => `CONSUMER.MSG.NEXT.${publicStream}.${consumer}`;
const information = (consumer: string) => `CONSUMER.INFO.${publicStream}.${consumer}`;
const acknowledgements = (consumer: string) => `$JS.ACK.${publicStream}.${consumer}.>`;
const atBroker = (request: string) => `$JS.${brokerDomain}.API.${request}`;
const inAccount = (request: string) => `$JS.API.${request}`;

/**
 * The account that is linked with the broker. Its exports have a wildcard in the consumer's place: the
 * claims of each account name the consumer it gets, and only the operator signs those.
 */
export const serviceClaims = ({ operator, service }: GatewayKeys): string => {
  const answers = { response_type: 'Stream', response_threshold: silenceNanoseconds } as const;
  return encodeClaims<Account>(operator, {
    sub: service.publicKey,
    name: 'service',
    iat: writtenAt,
    nats: {
      type: 'account',
      limits: limitsOfOurs,
      exports: [
        { name: 'messages', type: 'service', subject: atBroker(next('*')), ...answers },
        { name: 'state', type: 'service', subject: atBroker(information('*')) },
        { name: 'confirm', type: 'service', subject: acknowledgements('*'), ...answers },
        { name: 'live', type: 'stream', subject: `${livePrefix}.${publicSubjects}` },
      ],
    },
  });
};

/** The subject of a reader's new events without JetStream: at most once, and without those it missed. */
export const liveSubject = ({ scope, resource }: ReaderAccess): string =>
  `${livePrefix}.${readerSubjects(scope, resource)}`;

/**
 * The account of a reader. It contains nothing but its own consumer and its own live subjects, so no
 * message that is published in it, and no reply subject that is named in it, leads out of it. Without a
 * signing key nobody may log in to it, and existing connections are closed.
 */
export function accountClaims(keys: GatewayKeys, access: ReaderAccess): string {
  const { name, credentials, changedAt } = access;
  const imported = { account: keys.service.publicKey };
  const request = (text: string) => ({
    type: 'service' as const,
    ...imported,
    subject: atBroker(text),
    local_subject: inAccount(text),
  });
  const signers = credentials ? [keys.signer(access, credentials.generation).publicKey] : [];
  return encodeClaims<Account>(keys.operator, {
    sub: keys.account(access).publicKey,
    name,
    iat: secondsOf(changedAt),
    nats: {
      type: 'account',
      limits: limitsOfReader,
      signing_keys: signers,
      imports: [
        { name: 'messages', ...request(next(name)) },
        { name: 'state', ...request(information(name)) },
        { name: 'confirm', type: 'service', ...imported, subject: acknowledgements(name) },
        { name: 'live', type: 'stream', ...imported, subject: liveSubject(access) },
      ],
    },
  });
}

/** The request to a server of the gateway to delete a reader's account. */
export const removalClaims = (keys: GatewayKeys, access: ReaderAccess): string =>
  encodeClaims<Generic>(keys.operator, {
    sub: keys.operator.publicKey,
    name: 'removal',
    iat: secondsOf(access.changedAt),
    nats: { type: 'generic', accounts: [keys.account(access).publicKey] },
  });

/**
 * The content of a `.creds` file for a reader. The account alone keeps it from others' events; its
 * permissions within the account are named so that a mistake is refused instead of ignored.
 */
export function readerCredentials(
  keys: GatewayKeys,
  access: ReaderAccess & { readonly credentials: NonNullable<ReaderAccess['credentials']> },
): string {
  const { generation, issuedAt, expiresAt } = access.credentials;
  const user = keys.user(access, generation);
  const requests = [next(access.name), information(access.name)].map(inAccount);
  const claims = encodeClaims<User>(keys.signer(access, generation), {
    sub: user.publicKey,
    name: access.name,
    iat: secondsOf(issuedAt),
    ...(expiresAt === null ? {} : { exp: secondsOf(expiresAt) }),
    nats: {
      type: 'user',
      issuer_account: keys.account(access).publicKey,
      pub: { allow: [...requests, acknowledgements(access.name)] },
      sub: { allow: ['_INBOX.>', liveSubject(access)] },
      ...withoutUserLimits,
    },
  });
  return credentialsText(user, claims);
}

/** The content of a `.creds` file. */
export const credentialsText = ({ seed }: Nkey, claims: string): string =>
  `-----BEGIN NATS USER JWT-----
${claims}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------
`;
