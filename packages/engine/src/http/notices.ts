import { Problem } from '@counterfoil/kernel';
import type { Express, RequestHandler } from 'express';
import { exchangeOf } from './exchange.ts';
import type { HttpOptions, TakeNotice } from './host.ts';
import { otherMethods } from './paths.ts';
import { type BodyBytes, readBody } from './read-body.ts';
import { sendJson } from './respond.ts';

/** The largest notice that is read. */
const noticeBytes = 256 * 1024;
/** Notices in hand at once: nobody who sends them has shown who it is, so they must not take the room of callers. */
const noticesMaximum = 64;

/** Mounts what other systems send without an API key. */
export function mountNotices(application: Express, { notices = {} }: Pick<HttpOptions, 'notices'>) {
  let inHand = 0;
  const taking =
    (path: string, take: TakeNotice): RequestHandler =>
    async (request, response) => {
      const exchange = exchangeOf(response);
      exchange.label = `POST ${path}`;
      if (inHand >= noticesMaximum) {
        const message = 'Too many messages are being taken. Send it again later.';
        throw new Problem('service_unavailable', message, { retryAfterSeconds: 5 });
      }
      inHand += 1;
      try {
        const body = await bodyOf(request);
        await take({
          parameters: Object.fromEntries(
            Object.entries(request.params).map(([name, value]) => [name, String(value)]),
          ),
          header: (name) => [request.headers[name]].flat()[0] ?? null,
          bytes: body.bytes,
          requestId: exchange.requestId,
        });
        sendJson(response, 200, { received: true });
      } finally {
        inHand -= 1;
      }
    };
  for (const [path, take] of Object.entries(notices)) {
    application
      .route(path)
      .post(taking(path, take))
      .all(otherMethods(['POST']));
  }
}

const bodyOf = (request: Parameters<typeof readBody>[0]): Promise<BodyBytes> =>
  new Promise((found, fail) => {
    readBody(request, noticeBytes, (outcome) => {
      if (outcome instanceof Problem) fail(outcome);
      else found(outcome);
    });
  });
