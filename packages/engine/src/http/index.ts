export type {
  ApiInfo,
  BeginRequest,
  HttpOptions,
  HttpServer,
  RateLimit,
  RequestHost,
  RequestRun,
} from './host.ts';
export { type ProblemBody, problemBody } from './problem-body.ts';
export { createHttpServer, createServiceServer } from './server.ts';
