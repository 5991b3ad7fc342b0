import type { FileName, FileStore } from '@counterfoil/engine/define';

interface Kept {
  mark: string;
  pieces: Uint8Array[];
}

const sizeOf = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((sum, piece) => sum + piece.length, 0);

/** Files in memory, for tests. */
export function memoryFiles(): FileStore {
  const kept = new Map<string, Kept>();
  const at = ({ environmentId, name }: FileName) => `${environmentId} ${name}`;
  return {
    begin: async (file, mark, keptBytes = 0) => {
      const pieces = [...(kept.get(at(file))?.pieces ?? [])];
      while (sizeOf(pieces) > keptBytes) pieces.pop();
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
