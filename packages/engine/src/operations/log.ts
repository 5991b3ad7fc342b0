import { type DestinationStream, type Logger, pino } from 'pino';
import { standardOutput } from './log-output.ts';

/** The log of a process. Lines are JSON objects; each carries the name of the process. */
export type Log = Logger;

/** The levels of log lines, the least important first; `silent` writes none. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
/** A level of log lines. */
export type LogLevel = (typeof logLevels)[number];

/** Members that hold something secret, anywhere in a logged object down to two levels. */
const secretMembers = [
  'x-api-key',
  'authorization',
  'cookie',
  'api_key',
  'apiKey',
  'secret',
  'signing_secret',
  'password',
  'connectionString',
];

const pathsOf = (member: string): string[] => {
  const bracketed = `["${member}"]`;
  return [bracketed, `*${bracketed}`, `*.*${bracketed}`];
};

interface LogOptions {
  readonly level: LogLevel;
  readonly name: string;
  /** The destination of lines; the standard output when absent. */
  readonly destination?: DestinationStream;
}

/** Makes the log of a process. Secret members of logged objects are replaced, never written. */
export function createLog({ level, name, destination }: LogOptions): Log {
  const options = {
    level,
    name,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: secretMembers.flatMap(pathsOf), censor: '[redacted]' },
  };
  return pino(options, destination ?? standardOutput());
}
