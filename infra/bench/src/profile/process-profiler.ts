/**
 * Loaded into each Node process of an installation that is profiled (`node --import`): the signal SIGUSR2 starts a
 * processor profile, and the same signal again ends it and writes it to the folder in `BENCH_PROFILE_FOLDER`.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const folder = process.env.BENCH_PROFILE_FOLDER;

/** Microseconds between two looks at the stack: enough of them in five seconds, at a cost that stays small. */
const intervalMicroseconds = 500;

async function startProfile(): Promise<Session> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: intervalMicroseconds });
  await session.post('Profiler.start');
  return session;
}

async function endProfile(session: Session, file: string): Promise<void> {
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  // Whoever waits for the file finds all of it.
  writeFileSync(`${file}.part`, JSON.stringify(profile));
  renameSync(`${file}.part`, file);
}

if (folder && isMainThread) {
  const file = join(folder, `${process.pid}.cpuprofile`);
  let running: Promise<Session> | null = null;
  process.on('SIGUSR2', () => {
    if (running === null) {
      running = startProfile();
    } else {
      const ended = running;
      running = null;
      void ended.then((session) => endProfile(session, file));
    }
  });
  // Signals to a process that does not listen would end it.
  writeFileSync(join(folder, `${process.pid}.listens`), '');
}
