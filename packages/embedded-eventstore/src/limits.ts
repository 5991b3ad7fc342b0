/** Every bound of the server in one place. Sizes are bytes, times are milliseconds. */
export const limits = {
  /** Largest gRPC message a client may send; the real server takes log records of the same size. */
  receiveMessageBytes: 16 * 1024 * 1024,
  /**
   * Largest append: data, metadata and twice the type length of all its events together. It is what
   * the real server takes unless it is configured for more.
   */
  appendBytes: 1024 * 1024,
  streamNameBytes: 1024,
  eventTypeBytes: 1024,
  /** Longest time one BatchAppend may take to arrive completely. */
  batchCollectMilliseconds: 2_000,
  /** Appends of one BatchAppend call whose last message has not arrived yet. */
  batchCollecting: 4_096,
  /** Above this many undurable bytes the server stops reading from its append streams. */
  queuePauseBytes: 32 * 1024 * 1024,
  /** Above this many undurable bytes the server refuses appends. */
  queueRefuseBytes: 256 * 1024 * 1024,
  /** One LMDB transaction takes at most this much. */
  groupBytes: 16 * 1024 * 1024,
  groupEvents: 10_000,
  /** Records of one transaction go into the file together up to this size. */
  blockBytes: 32 * 1024,
  /** Up to this size a block shares a page of the file with others; a larger one is compressed. */
  plainBlockBytes: 1_900,
  /** The newest blocks in memory: at least this much of them once there is, at most twice as much. */
  newestBlockBytes: 4 * 1024 * 1024,
  /** Older blocks in memory that were read from the file. */
  blockCacheBytes: 16 * 1024 * 1024,
  /** Stream heads kept in memory for the commit check. */
  cachedHeads: 20_000,
  /** An append with ANY recognises its own events among this many last events of the stream. */
  anyWindowEvents: 1_000,
  anyWindowStreams: 512,
  /** One step of a read: at most this many events or bytes are taken from disk at once. */
  readPageEvents: 128,
  readPageBytes: 1024 * 1024,
  /** The time for which a subscription to `$all` that is live looks for nothing new after it has found something. */
  liveRestMilliseconds: 3,
  /** Encoded events are sent together up to this size. */
  sendBytes: 64 * 1024,
  /** A filter is compiled from client input, so it is bounded as well. */
  filterRegexCharacters: 4_096,
  filterPrefixes: 4_096,
  /** The time that a shutdown waits for connections to end by themselves. */
  shutdownMilliseconds: 2_000,
  /**
   * The young generation of a child process. V8 begins to mark a whole heap when what is left below its limit is less than that, and
   * counts the buffers in it as old. The store has some 20 MB on its heap: with the 64 MB that V8 comes to by itself, it was
   * collected whole about once a second under load, for the buffers of that second.
   */
  youngGenerationMegabytes: 8,
  /** The time that the parent waits for the ready line of a child process. */
  processReadyMilliseconds: 60_000,
  /** The time that the parent waits for a child to stop before it kills it. */
  processStopMilliseconds: 15_000,
} as const;
