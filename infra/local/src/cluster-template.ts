import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * The folder of the cluster that the throw-away ones of a run of the tests are copies of, which costs much less than
 * making each anew. The runner names it, and removes it in the end.
 *
 * @returns undefined outside of such a run
 */
export const templateOfRun = (): string | undefined => process.env.COUNTERFOIL_TEST_CLUSTER;

/**
 * Copies the template, which is made when it is missing, with its password.
 *
 * @param directory existing folder, without a cluster
 * @param create makes a cluster with its password in a folder
 */
export async function copyCluster(
  template: string,
  directory: string,
  create: (draft: string) => Promise<void>,
): Promise<void> {
  if (!existsSync(template)) await makeTemplate(template, create);
  const copy = promisify(execFile);
  // Unlike Node's own copy it keeps whom the files belong to.
  await copy('cp', ['-a', join(template, 'password'), directory]);
  await copy('cp', ['-a', join(template, 'data'), join(directory, 'data.new')]);
  renameSync(join(directory, 'data.new'), join(directory, 'data'));
}

async function makeTemplate(
  template: string,
  create: (draft: string) => Promise<void>,
): Promise<void> {
  const draft = mkdtempSync(`${template}-`);
  await create(draft);
  try {
    renameSync(draft, template);
  } catch (error) {
    // Another process of the run was faster.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(template)) throw error;
  }
}
