import { connect } from 'node:net';

/** A connection on which a test sends any text; `heard` is everything that came back. */
export function openConversation(port: number): {
  readonly connected: Promise<void>;
  readonly say: (text: string) => void;
  readonly hangUp: () => void;
  readonly heard: Promise<string>;
} {
  const socket = connect(port, '127.0.0.1');
  const heard = new Promise<string>((resolve, reject) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => resolve(Buffer.concat(chunks).toString()));
    socket.on('error', reject);
  });
  const connected = new Promise<void>((resolve) => socket.on('connect', resolve));
  const hangUp = (): void => void socket.destroy();
  return { connected, say: (text) => socket.write(text), hangUp, heard };
}

/** Sends a text as it is and gives everything that comes back until the connection ends. */
export function exchangeRaw(port: number, text: string): Promise<string> {
  const { say, heard } = openConversation(port);
  say(text);
  return heard;
}

/** The status of a raw answer. */
export const statusOf = (answer: string): number => Number(answer.split(' ')[1]);
/** The JSON body of a raw answer. */
export const bodyOf = (answer: string): Record<string, unknown> =>
  JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as Record<string, unknown>;
