/** Gets nats-server by the first way that works; see nats-server-install.mjs. */
export function obtainNatsServer(
  environment: Readonly<Record<string, string | undefined>>,
  say: (line: string) => void,
): Promise<void>;
