/** The streaming calls that are open, so that a shutdown or a failure can end every one. */
import { type CallStatus, unavailable } from './status.ts';

/** A call that can be ended with a status and says when it is over. */
export interface OpenCall {
  fail(status: CallStatus): void;
  onClosed(callback: () => void): void;
}

/** The registry of open calls. */
export interface OpenCalls {
  /** Registers a call; when the server is ending the call is ended instead and false is given. */
  admit(call: OpenCall): boolean;
  /** Refuses new work from now on; calls that are open stay open. */
  refuse(reason: string): void;
  /** Ends all calls as unavailable; refuses new work as well. */
  endAll(reason: string): void;
  /** The reason to refuse new work; undefined while there is none. */
  refusal(): string | undefined;
}

/** Creates an empty registry. */
export function createOpenCalls(): OpenCalls {
  const open = new Set<OpenCall>();
  let refusal: string | undefined;
  return {
    admit: (call) => {
      if (refusal !== undefined) {
        call.fail(unavailable(refusal));
        return false;
      }
      open.add(call);
      call.onClosed(() => open.delete(call));
      return true;
    },
    refuse: (reason) => {
      refusal ??= reason;
    },
    endAll: (reason) => {
      refusal ??= reason;
      for (const call of [...open]) call.fail(unavailable(refusal));
    },
    refusal: () => refusal,
  };
}
