import { type DestinationStream, pino } from 'pino';

interface OutputOptions {
  /** The file descriptor that lines go to: 1 is the standard output. */
  readonly descriptor: number;
  /** Bytes of lines that may wait; those beyond are lost, and counted. */
  readonly waitingBytes?: number;
}

/** Lines that gather and go out together, so that no request waits for a write. */
export interface LogOutput extends DestinationStream {
  /** Severity of the line that comes next, which pino sets. */
  lastLevel: number;
  /** Writes everything that waits before it returns. */
  flushSync(): void;
  /** The number of lines that could not be written. */
  lost(): number;
}

/** Lines wait until so many bytes are there, some 200 of a service at work, or for so long. Each writing has its cost. */
const gathered = { bytes: 64 * 1024, milliseconds: 100 } as const;
/** Some 10,000 lines, of which a service at work writes a thousand a second. */
const waitingBytesDefault = 4 * 1024 * 1024;
/** From this severity of pino's on, a line goes out at once: warnings. */
const urgentLevel = 40;

/**
 * Makes an output whose lines are written together, beside the event loop. A line of warning or worse takes those
 * before it along at once; the end of the process, by an unhandled error too, writes what still waits. When nobody
 * takes the lines, a bounded number of them waits and the rest is lost, and the process goes on; should it end then, the
 * write that is under way ends beside the last one, and a line of each may be torn.
 */
export function logOutput(options: OutputOptions): LogOutput {
  const { descriptor, waitingBytes = waitingBytesDefault } = options;
  const stream = pino.destination({
    dest: descriptor,
    sync: false,
    minLength: gathered.bytes,
    maxWrite: 2 * gathered.bytes,
    maxLength: waitingBytes,
  });
  const lineWaits = flushInTime(stream);
  let lost = 0;
  let isBroken = false;
  stream.on('drop', () => {
    lost += 1;
  });
  // On any other error the lines stay, for the next attempt: a full disk may have room again.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') isBroken = true;
  });
  const output: LogOutput = {
    lastLevel: 0,
    write: (line) => {
      if (isBroken) {
        lost += 1;
        return;
      }
      stream.write(line);
      lineWaits();
      if (output.lastLevel >= urgentLevel) stream.flush();
    },
    flushSync: () => stream.flushSync(),
    lost: () => lost,
  };
  return Object.assign(output, { [pino.symbols.needsMetadataGsym]: true });
}

/** The part of a stream of lines that is needed to flush it. */
interface Flushed {
  flush(): void;
  /** Told whenever a writing has ended; no other begins by itself then. */
  on(event: 'drain', listener: () => void): unknown;
}

/** Writings that have to end after a line: the first may have begun before it. */
const writingsPerLine = 2;

/**
 * Flushes a stream while lines may wait in it, and leaves it alone when there are none: a timer that goes on for ever wakes
 * a process that has nothing to do. Gives what is to be called with every line.
 */
export function flushInTime(stream: Flushed): () => void {
  let missing = 0;
  let hasEnded = false;
  let timer: NodeJS.Timeout | undefined;
  stream.on('drain', () => {
    hasEnded = true;
  });
  const turn = (): void => {
    if (hasEnded) missing -= 1;
    if (missing === 0) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    hasEnded = false;
    stream.flush();
  };
  return () => {
    missing = writingsPerLine;
    hasEnded = false;
    timer ??= setInterval(turn, gathered.milliseconds).unref();
  };
}

let ofProcess: LogOutput | null = null;

/** The one output of all logs of this process: its standard output. */
export function standardOutput(): LogOutput {
  ofProcess ??= logOutput({ descriptor: 1 });
  return ofProcess;
}

/** The number of lines that this process could not write. */
export const lostLines = (): number => ofProcess?.lost() ?? 0;
