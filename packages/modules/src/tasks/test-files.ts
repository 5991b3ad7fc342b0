import { type FileName, type FileStore, FilesFull } from '@counterfoil/engine/define';

interface Kept {
  mark: string;
  pieces: Uint8Array[];
}

const sizeOf = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((sum, piece) => sum + piece.length, 0);

/** Files in memory, for tests. Those of all environments count together. */
export function memoryFiles(keptBytes = Number.POSITIVE_INFINITY): FileStore {
  const kept = new Map<string, Kept>();
  const whole = () => [...kept.values()].reduce((sum, { pieces }) => sum + sizeOf(pieces), 0);
  const at = ({ environmentId, name }: FileName) => `${environmentId} ${name}`;
  return {
    begin: async (file, mark, stay = 0) => {
      const pieces = [...(kept.get(at(file))?.pieces ?? [])];
      while (sizeOf(pieces) > stay) pieces.pop();
      kept.set(at(file), { mark, pieces });
      return sizeOf(pieces);
    },
    stateOf: async (file) => {
      const found = kept.get(at(file));
      return found ? { mark: found.mark, bytes: sizeOf(found.pieces) } : null;
    },
    add: async (file, mark, behindBytes, piece) => {
      const found = kept.get(at(file));
      if (found?.mark !== mark || sizeOf(found.pieces) !== behindBytes) return false;
      if (whole() + piece.length > keptBytes) throw new FilesFull(keptBytes);
      found.pieces.push(piece);
      return true;
    },
    async *read(file) {
      yield* [...(kept.get(at(file))?.pieces ?? [])];
    },
    remove: async (file) => {
      kept.delete(at(file));
    },
  };
}

/** A stream of one text. */
export async function* streamOf(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** The text of an answer that is made while it is sent. */
export async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const read: Uint8Array[] = [];
  for await (const piece of pieces) read.push(piece);
  return Buffer.concat(read).toString();
}
