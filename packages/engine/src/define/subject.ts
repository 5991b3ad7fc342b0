import { BrokenInvariant } from '@counterfoil/kernel';
import type { FeedScope } from './public-feed.ts';

/** The major version of the public contract is part of every subject. */
const root = 'billing.v1';

/** The stream on NATS that holds all public messages. */
export const publicStream = 'BILLING';

/** The subjects that the relay publishes to. Nothing but the relay may touch them. */
export const publicSubjects = `${root}.>`;

/** The prefix under which stored messages, and only those, reach plain NATS subscribers. */
export const livePrefix = 'live';

/** The parts of a subject. `type` is `resource.tail`, and the tail may have several words. */
export interface SubjectParts {
  readonly tenantId: string;
  /** Null for records that belong to the tenant as a whole. */
  readonly environmentId: string | null;
  readonly type: string;
  readonly resourceId: string;
}

/** Stands in the environment's place for records of the whole tenant; no id looks like this. */
const noEnvironment = '-';
const tokenShape = /^[A-Za-z0-9_-]+$/;
/** NATS takes longer subjects; these are ids and words, so a longer one is a mistake. */
const subjectMaximum = 255;

/**
 * The subject of a public message: `billing.v1.{tenant}.{env}.{resource}.{resource_id}.{tail}`.
 * One function makes all of them, so that no text of a customer can become a wildcard or another
 * tenant's subject. Throws `BrokenInvariant` on parts that are no tokens.
 */
export function publicSubject({ tenantId, environmentId, type, resourceId }: SubjectParts): string {
  if (environmentId === noEnvironment) throw notTokens(environmentId);
  const [resource, ...tail] = type.split('.');
  if (tail.length === 0) {
    throw new BrokenInvariant(`the event type ${JSON.stringify(type)} has no tail`);
  }
  const tokens = [tenantId, environmentId ?? noEnvironment, resource, resourceId, ...tail];
  for (const token of tokens) if (!tokenShape.test(token ?? '')) throw notTokens(token);
  const subject = `${root}.${tokens.join('.')}`;
  if (subject.length > subjectMaximum) {
    throw new BrokenInvariant(`the subject ${subject} is longer than ${subjectMaximum}`);
  }
  return subject;
}

/** All subjects of one environment. Throws `BrokenInvariant` on ids that are no tokens. */
export function environmentSubjects(scope: FeedScope): string {
  const tokens = [scope.tenantId, scope.environmentId];
  for (const token of tokens) if (!tokenShape.test(token)) throw notTokens(token);
  return `${root}.${tokens.join('.')}.>`;
}

/**
 * The subjects of one environment under which an event type, or a prefix such as `wallet.*`, is published
 * about one record; undefined for every type, and for every record.
 */
export function feedSubjects(
  scope: { readonly tenantId: string; readonly environmentId: string },
  wanted: { readonly type?: string | undefined; readonly resourceId?: string | undefined },
): string {
  const [resource = '*', ...tail] = wanted.type?.split('.') ?? ['*', '*'];
  const words = tail.at(-1) === '*' ? tail.with(-1, '>') : tail;
  const tokens = [resource, wanted.resourceId ?? '*', ...words];
  for (const token of tokens) {
    if (token !== '*' && token !== '>' && !tokenShape.test(token)) throw notTokens(token);
  }
  return environmentSubjects(scope).replace(/>$/, tokens.join('.'));
}

/** The subjects of one environment that are about one kind of record; null for every kind. */
export function readerSubjects(scope: FeedScope, resource: string | null): string {
  const all = environmentSubjects(scope);
  if (resource === null) return all;
  if (!tokenShape.test(resource)) throw notTokens(resource);
  return all.replace(/>$/, `${resource}.>`);
}

/**
 * The subject to which systems send the facts of an environment: `{intake}.v1.{tenant}.{environment}`. Throws
 * `BrokenInvariant` on parts that are no tokens.
 */
export function sendingSubject(intake: string, scope: FeedScope): string {
  const tokens = [intake, 'v1', scope.tenantId, scope.environmentId];
  for (const token of tokens) if (!tokenShape.test(token)) throw notTokens(token);
  return tokens.join('.');
}

const notTokens = (token: unknown): BrokenInvariant =>
  new BrokenInvariant(`${JSON.stringify(token)} cannot be part of a subject`);

/** The parts of a subject that `publicSubject` made; null for any other text. */
export function parsePublicSubject(subject: string): SubjectParts | null {
  if (!subject.startsWith(`${root}.`)) return null;
  const tokens = subject.slice(root.length + 1).split('.');
  const [tenantId, environment, resource, resourceId, ...tail] = tokens;
  if (!tenantId || !environment || !resource || !resourceId || tail.length === 0) return null;
  if (!tokens.every((token) => tokenShape.test(token))) return null;
  const environmentId = environment === noEnvironment ? null : environment;
  return { tenantId, environmentId, resourceId, type: [resource, ...tail].join('.') };
}
