import { createHash, timingSafeEqual } from 'node:crypto';
import { createHttpServer, type HttpOptions, type HttpServer } from '@counterfoil/engine';
import {
  type Directory,
  type KeyMaterial,
  operator,
  operatorPrincipal,
} from '@counterfoil/modules';
import { operatorInfo } from './info.ts';

interface OperatorServerOptions extends Pick<HttpOptions, 'host' | 'health' | 'metrics' | 'log'> {
  /** The key that the operator presents. */
  readonly operatorKey: string;
  readonly keyMaterial: KeyMaterial;
  readonly directory: Directory;
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * The operator API: a server of its own, on an address of its own, with one key that no tenant has.
 * Keys of tenants count for nothing here, and the operator's key for nothing there.
 */
export function createOperatorServer(options: OperatorServerOptions): HttpServer {
  const { operatorKey, keyMaterial, directory, ...rest } = options;
  const expected = digestOf(operatorKey);
  const principal = operatorPrincipal(operatorKey);
  return createHttpServer({
    ...rest,
    modules: [operator({ keyMaterial, directory })],
    authenticate: (key) => (timingSafeEqual(digestOf(key), expected) ? principal : null),
    info: operatorInfo,
  });
}
