import { createHash } from 'node:crypto';
import type { Account, ClaimsData, Generic, Operator, User } from '@nats-io/jwt';
import type { GatewayAccess } from '../define/event-gateway.ts';
import type { GatewayKeys, Nkey } from './keys.ts';
import { reachOf, serviceExports } from './reach.ts';

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
const writtenAt = secondsOf('2026-11-23T00:00:00Z');

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
const limitsOfAccess = {
  subs: 100,
  conn: 10,
  leaf: 0,
  exports: 0,
  data: unlimited,
  wildcards: false,
};

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

/**
 * The account that is linked with the broker. Its exports have wildcards in the places of consumers and senders: the
 * claims of each account name what it gets, and only the operator signs those.
 */
export const serviceClaims = ({ operator, service }: GatewayKeys): string =>
  encodeClaims<Account>(operator, {
    sub: service.publicKey,
    name: 'service',
    iat: writtenAt,
    nats: { type: 'account', limits: limitsOfOurs, exports: [...serviceExports] },
  });

/**
 * The account of a system outside. It contains nothing but what the system reaches, so no message that is published
 * in it, and no reply subject that is named in it, leads out of it. Without a signing key nobody may log in to it,
 * and existing connections are closed.
 */
export function accountClaims(keys: GatewayKeys, access: GatewayAccess): string {
  const { name, credentials, changedAt } = access;
  const { imports, payload } = reachOf(keys, access);
  const signers = credentials ? [keys.signer(access, credentials.generation).publicKey] : [];
  return encodeClaims<Account>(keys.operator, {
    sub: keys.account(access).publicKey,
    name,
    iat: secondsOf(changedAt),
    nats: {
      type: 'account',
      limits: { ...limitsOfAccess, imports: imports.length, payload },
      signing_keys: signers,
      imports: imports.map((each) => ({ account: keys.service.publicKey, ...each })),
    },
  });
}

/** The request to a server of the gateway to delete the account of a system outside. */
export const removalClaims = (keys: GatewayKeys, access: GatewayAccess): string =>
  encodeClaims<Generic>(keys.operator, {
    sub: keys.operator.publicKey,
    name: 'removal',
    iat: secondsOf(access.changedAt),
    nats: { type: 'generic', accounts: [keys.account(access).publicKey] },
  });

/**
 * The content of a `.creds` file for a system outside. The account alone keeps it from what is others'; its
 * permissions within the account are named so that a mistake is refused instead of ignored.
 */
export function accessCredentials(
  keys: GatewayKeys,
  access: GatewayAccess & { readonly credentials: NonNullable<GatewayAccess['credentials']> },
): string {
  const { generation, issuedAt, expiresAt } = access.credentials;
  const user = keys.user(access, generation);
  const { publish, subscribe } = reachOf(keys, access);
  const claims = encodeClaims<User>(keys.signer(access, generation), {
    sub: user.publicKey,
    name: access.name,
    iat: secondsOf(issuedAt),
    ...(expiresAt === null ? {} : { exp: secondsOf(expiresAt) }),
    nats: {
      type: 'user',
      issuer_account: keys.account(access).publicKey,
      pub: { allow: [...publish] },
      sub: { allow: [...subscribe] },
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
