export { type DescribedApi, documentsOf } from './described-documents.ts';
export type { HandedAnswer, HandedCaller, HandedRequest } from './handed-request.ts';
export type {
  ApiInfo,
  BeginRequest,
  Elsewhere,
  HttpOptions,
  HttpServer,
  Notice,
  RateLimit,
  RequestHost,
  RequestRun,
  TakeNotice,
} from './host.ts';
export { once, onceDone } from './once.ts';
export { type ProblemBody, problemBody } from './problem-body.ts';
export { createHttpServer, createServiceServer } from './server.ts';
