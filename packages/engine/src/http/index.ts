export type {
  BeginRequest,
  HttpOptions,
  HttpServer,
  RateLimit,
  RequestHost,
  RequestRun,
} from './host.ts';
export { type ProblemBody, problemBody } from './problem-body.ts';
export { createHttpServer } from './server.ts';
export { createServiceServer } from './service-server.ts';
