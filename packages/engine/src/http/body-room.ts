/** A place in line for the memory of a body. */
export interface Place {
  /** Gives the room back, or leaves the line. To do so twice is harmless. */
  leave(): void;
}

/** Room for the large bodies that tenants have under way. */
export interface BodyRoom {
  /**
   * Asks for room, until the place is left. A body that finds too little waits behind those that came before;
   * one that is larger than all the room has it alone.
   *
   * @param onRoom is called once there is room: at once, or when another place is left
   */
  ask(tenant: string, bytes: number, onRoom: () => void): Place;
}

interface Waiting {
  readonly bytes: number;
  readonly onRoom: () => void;
}

/** The room of a tenant, while it uses any. */
interface Share {
  taken: number;
  /** In order of arrival. */
  readonly line: Set<Waiting>;
}

/**
 * Makes room of so many bytes for each tenant. What a large body is read into, and parsed to, lives until it is
 * answered: were a dozen under way at once, the collector would copy all of that again and again, on the thread
 * of all tenants.
 */
export function createBodyRoom(bytesPerTenant: number): BodyRoom {
  const shares = new Map<string, Share>();

  function shareOf(tenant: string): Share {
    const known = shares.get(tenant);
    if (known) return known;
    const made: Share = { taken: 0, line: new Set() };
    shares.set(tenant, made);
    return made;
  }

  const hasRoom = ({ taken }: Share, bytes: number): boolean =>
    taken === 0 || taken + bytes <= bytesPerTenant;

  /** Lets those in that are next in line, as far as there is room. */
  function letIn(tenant: string, share: Share): void {
    for (const waiting of share.line) {
      if (!hasRoom(share, waiting.bytes)) return;
      share.line.delete(waiting);
      share.taken += waiting.bytes;
      waiting.onRoom();
    }
    if (share.taken === 0 && share.line.size === 0) shares.delete(tenant);
  }

  return {
    ask: (tenant, bytes, onRoom) => {
      const share = shareOf(tenant);
      const waiting = { bytes, onRoom };
      share.line.add(waiting);
      let isLeft = false;
      const leave = (): void => {
        if (isLeft) return;
        isLeft = true;
        if (!share.line.delete(waiting)) share.taken -= bytes;
        letIn(tenant, share);
      };
      letIn(tenant, share);
      return { leave };
    },
  };
}
