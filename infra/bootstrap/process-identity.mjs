import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/**
 * Says which process a pid stands for: a text that stays the same while that process lives and that
 * no later process with the same pid shares, because it contains the moment of its start.
 *
 * @param {number} pid
 * @returns {string | undefined} undefined when no such process runs (a zombie counts as ended)
 */
export function processIdentity(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return existsSync('/proc/self/stat') ? identityFromProc(pid) : identityFromPs(pid);
}

function identityFromProc(pid) {
  let stat;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The second field is the program's name in brackets and may itself hold spaces and brackets, so
  // fields are counted from the last bracket: 0 is the state, 19 the start in ticks since boot.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${fields[19]}`;
}

function identityFromPs(pid) {
  try {
    const output = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5_000,
    }).trim();
    const [state, ...start] = output.split(/\s+/);
    return state === undefined || state === '' || state.startsWith('Z')
      ? undefined
      : start.join(' ');
  } catch {
    return undefined;
  }
}
