import {
  type AnyRoute,
  type BodyStream,
  Content,
  ContentStream,
  type RequestContext,
  WithETag,
} from '@counterfoil/engine/define';

/** The parts of a request as they come in, before any schema has seen them. */
export interface RawInput {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
  /** The body of a route that takes it as it arrives. */
  readonly stream?: BodyStream;
}

type BodyOf<Answer> = Answer extends WithETag<infer Body> ? Body : Exclude<Answer, undefined>;

/**
 * Returns the answer of a route: parses the input with the schemas of the route, calls its handler
 * and makes sure that the answer is of the form that the route declares. No HTTP, no permissions.
 */
export async function callRoute<Given extends AnyRoute>(
  route: Given,
  context: RequestContext,
  { params = {}, query = {}, body = {}, stream }: RawInput = {},
): Promise<BodyOf<Awaited<ReturnType<Given['handle']>>>> {
  const answer: unknown = await route.handle(context, {
    params: route.params?.parse(params),
    query: route.query?.parse(query),
    body: route.body?.parse(body),
    ...(stream && { stream }),
  });
  const plain = answer instanceof WithETag ? answer.body : answer;
  if (!(plain instanceof Content || plain instanceof ContentStream)) route.response?.parse(plain);
  return plain as BodyOf<Awaited<ReturnType<Given['handle']>>>;
}
