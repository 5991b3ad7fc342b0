import { type HealthCheck, within } from './health.ts';
import type { Log } from './log.ts';

/** The part of `process` that stopping needs; a test brings its own. */
export interface ProcessLike {
  on(event: string, listener: (argument: unknown) => void): unknown;
  exit(code: number): void;
}

interface ShutdownOptions {
  readonly log: Log;
  readonly process?: ProcessLike;
  /** The time that each hook may take; one that takes longer is abandoned. Default: 15 seconds. */
  readonly hookTimeoutMs?: number;
  /** Tells the operator about an error that they have to put right; false for any other. */
  readonly tell?: (error: unknown) => boolean;
}

/** The orderly end of a process. */
export interface Shutdown {
  /**
   * Adds a step that must happen before the process ends. Hooks run one after the other, the last
   * added first, so that a thing is stopped before the things it was built on.
   */
  onShutdown(name: string, hook: () => Promise<void> | void): void;
  /** Fails from the moment the process is asked to stop, so that no new work is sent here. */
  readonly readiness: HealthCheck;
  /** Stops the process as a signal would. Exits 0, or 1 when a hook failed. */
  stop(reason: string): Promise<void>;
}

const defaultHookTimeoutMs = 15_000;

/**
 * Takes over the end of the process. SIGTERM or SIGINT: not ready, then the hooks, then exit 0; a
 * second signal exits at once. An error that nothing handles is logged and exits 1 immediately: the
 * state of the process is then unknown, and everything durable is in the log already. One that the operator
 * has to put right is told, and exits 2.
 */
export function installShutdown(options: ShutdownOptions): Shutdown {
  const { log, process: host = process, hookTimeoutMs = defaultHookTimeoutMs } = options;
  const hooks: { name: string; hook: () => Promise<void> | void }[] = [];
  let stopping = false;

  const stop = async (reason: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    log.info({ reason }, 'stopping');
    let failed = false;
    for (const { name, hook } of hooks.toReversed()) {
      try {
        await within(hookTimeoutMs, Promise.resolve().then(hook));
      } catch (error) {
        failed = true;
        log.error({ err: error, hook: name }, 'could not be stopped in order');
      }
    }
    log.info({ reason }, 'stopped');
    host.exit(failed ? 1 : 0);
  };

  const onSignal = (signal: unknown): void => {
    if (stopping) {
      log.warn({ signal }, 'second signal, exiting at once');
      host.exit(1);
    } else {
      void stop(String(signal));
    }
  };
  const onFatal = (error: unknown): void => {
    if (options.tell?.(error)) {
      host.exit(2);
      return;
    }
    log.fatal({ err: error }, 'unhandled error, exiting');
    host.exit(1);
  };
  host.on('SIGTERM', onSignal);
  host.on('SIGINT', onSignal);
  host.on('uncaughtException', onFatal);
  host.on('unhandledRejection', onFatal);

  return {
    onShutdown: (name, hook) => {
      hooks.push({ name, hook });
    },
    readiness: {
      name: 'shutdown',
      required: true,
      check: async () => {
        if (stopping) throw new Error('the process is stopping');
      },
    },
    stop,
  };
}
