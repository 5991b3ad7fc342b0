import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import S3rver from '@20minutes/s3rver';

/** A fault of a storage. */
export type StorageFault =
  /** Nobody listens. */
  | { readonly kind: 'refused' }
  /** The server takes its time before it looks at a request. */
  | { readonly kind: 'slow'; readonly milliseconds: number }
  /** The connection is cut after so many bytes of a body. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** The server answers that it cannot. */
  | { readonly kind: 'failing' };

/** A storage that speaks as S3 does, with one bucket, on a throw-away folder. */
export interface S3Server {
  readonly url: string;
  readonly bucket: string;
  readonly credentials: {
    readonly aws_access_key_id: string;
    readonly aws_secret_access_key: string;
  };
  /** Lets something go wrong with every request from now on; null: nothing. */
  break(fault: StorageFault | null): Promise<void>;
  /** The keys that there are, in their order. */
  keys(): readonly string[];
  get(key: string): Promise<Buffer>;
  /** Uploads in parts that are neither complete nor taken away. */
  openUploads(): readonly string[];
  /** Requests that have come, by method. */
  requests(): Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

const bucket = 'warehouse';
const credentials = { aws_access_key_id: 'S3RVER', aws_secret_access_key: 'S3RVER' };

/**
 * Starts s3rver, which checks signatures and knows uploads in parts, with a gate in front that adds what it lacks: uploads in parts
 * are listed and taken away, and `If-None-Match` is minded. The gate is where things go wrong.
 */
export async function startS3Server(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-s3-'));
  const inner = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucket }],
  });
  const { port: innerPort } = await inner.run();
  const gate = new Gate(innerPort);
  await gate.listen(0);
  const url = `http://127.0.0.1:${gate.port}`;
  return {
    url,
    bucket,
    credentials,
    break: (fault) => gate.break(fault),
    keys: () => [...gate.keys].sort(),
    get: (key) => readFile(join(directory, bucket, `${key}._S3rver_object`)),
    openUploads: () => [...gate.uploads.keys()],
    requests: () => Object.fromEntries(gate.counts),
    async stop() {
      await gate.close();
      await inner.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

class Gate {
  readonly #inner: number;
  #server = createServer();
  #fault: StorageFault | null = null;
  port = 0;
  readonly keys = new Set<string>();
  /** The key of each open upload in parts. */
  readonly uploads = new Map<string, string>();
  readonly counts = new Map<string, number>();

  constructor(inner: number) {
    this.#inner = inner;
  }

  listen(port: number): Promise<void> {
    this.#server = createServer((incoming, answer) => void this.#take(incoming, answer));
    return new Promise((resolve) => {
      this.#server.listen(port, '127.0.0.1', () => {
        this.port = (this.#server.address() as AddressInfo).port;
        resolve();
      });
    });
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  async break(fault: StorageFault | null): Promise<void> {
    const wasRefused = this.#fault?.kind === 'refused';
    this.#fault = fault;
    if (fault?.kind === 'refused') await this.close();
    else if (wasRefused) await this.listen(this.port);
  }

  async #take(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = incoming;
    this.counts.set(method, (this.counts.get(method) ?? 0) + 1);
    const fault = this.#fault;
    incoming.on('error', () => undefined);
    if (fault?.kind === 'slow') await pause(fault.milliseconds);
    if (fault?.kind === 'failing') return refuse(answer, 500, 'InternalError');
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of incoming) {
        chunks.push(chunk as Buffer);
        bytes += (chunk as Buffer).length;
        if (fault?.kind === 'cut' && bytes > fault.afterBytes) {
          incoming.socket.destroy();
          return;
        }
      }
    } catch {
      return;
    }
    const asked = new URL(url, 'http://gate');
    const key = decodeURIComponent(asked.pathname).slice(bucket.length + 2);
    if (this.#answered(method, asked, key, incoming, answer)) return;
    await this.#forward(incoming, Buffer.concat(chunks), { asked, key }, answer);
  }

  /** Answers what the server behind does not know. */
  #answered(
    method: string,
    { searchParams }: URL,
    key: string,
    { headers }: IncomingMessage,
    answer: ServerResponse,
  ): boolean {
    const upload = searchParams.get('uploadId');
    if (method === 'GET' && searchParams.has('uploads')) {
      const prefix = searchParams.get('prefix') ?? '';
      const uploads = [...this.uploads]
        .filter(([, of]) => of.startsWith(prefix))
        .map(([id, of]) => `<Upload><Key>${of}</Key><UploadId>${id}</UploadId></Upload>`);
      const list = `<ListMultipartUploadsResult>${uploads.join('')}</ListMultipartUploadsResult>`;
      answer.writeHead(200, { 'content-type': 'application/xml' }).end(list);
      return true;
    }
    if (method === 'DELETE' && upload !== null) {
      if (this.uploads.delete(upload)) answer.writeHead(204).end();
      else refuse(answer, 404, 'NoSuchUpload');
      return true;
    }
    if (upload !== null && !this.uploads.has(upload)) {
      refuse(answer, 404, 'NoSuchUpload');
      return true;
    }
    if (method === 'PUT' && headers['if-none-match'] === '*' && this.keys.has(key)) {
      refuse(answer, 412, 'PreconditionFailed');
      return true;
    }
    return false;
  }

  #forward(
    { method, url, headers }: IncomingMessage,
    body: Buffer,
    { asked, key }: { readonly asked: URL; readonly key: string },
    answer: ServerResponse,
  ): Promise<void> {
    return new Promise((resolve) => {
      const to = { host: '127.0.0.1', port: this.#inner, method, path: url, headers };
      const sent = request(to, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks);
          if (response.statusCode === 200) this.#note(method, asked, key, text.toString());
          answer.writeHead(response.statusCode ?? 500, response.headers as OutgoingHttpHeaders);
          answer.end(text);
          resolve();
        });
      });
      sent.on('error', () => {
        answer.destroy();
        resolve();
      });
      sent.end(body);
    });
  }

  /** Notes what a request has changed. */
  #note(method: string | undefined, { searchParams }: URL, key: string, text: string): void {
    const upload = searchParams.get('uploadId');
    if (method === 'POST' && searchParams.has('uploads')) {
      const [, id] = /<UploadId>(.*?)<\/UploadId>/.exec(text) ?? [];
      if (id !== undefined) this.uploads.set(id, key);
    } else if (method === 'POST' && upload !== null) {
      this.uploads.delete(upload);
      this.keys.add(key);
    } else if (method === 'PUT' && upload === null) this.keys.add(key);
  }
}

function refuse(answer: ServerResponse, status: number, code: string): void {
  answer.writeHead(status, { 'content-type': 'application/xml' });
  answer.end(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}
