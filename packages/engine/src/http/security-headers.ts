import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';
import type { Step } from './steps.ts';

/** Answers of an API are never pages: a browser may load, frame or guess nothing from them. */
const apiSecurity = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
  },
  xFrameOptions: { action: 'deny' },
  // The omitted headers matter only to documents, and each header costs work on every request.
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xPoweredBy: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** The headers that it sets. They are the same on every answer, so it is asked once. */
function securityHeaders(): (readonly [name: string, value: string])[] {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  apiSecurity(request, response, () => undefined);
  return response.getHeaderNames().map((name) => [name, String(response.getHeader(name))]);
}

const headers = securityHeaders();

/** Sets the headers that keep a browser from making anything of an answer. */
export const secureAnswer: Step = (_request, response, next) => {
  for (const [name, value] of headers) response.setHeader(name, value);
  next();
};
