import { z } from 'zod';
import { OperatorError, readDemo, type Settings } from './settings.ts';

const reportSchema = z.object({
  ready: z.boolean(),
  checks: z.array(
    z.object({
      name: z.string(),
      required: z.boolean(),
      status: z.enum(['ok', 'failing']),
      message: z.string().optional(),
      details: z.object({ members: z.array(z.string()).optional() }).optional(),
    }),
  ),
});

/** The report of a process on itself, as GET /readyz gives it. */
export type Report = z.output<typeof reportSchema>;

const answerMilliseconds = 10_000;

/**
 * Prints whether each process of the api is ready, the checks that fail, and the processes that it knows. Asks
 * those at the addresses, or the one that `counterfoil up` runs. True when all are ready. Throws `OperatorError`
 * when there is none, or one does not answer.
 */
export async function showStatus(
  settings: Pick<Settings, 'COUNTERFOIL_DATA'>,
  addresses: readonly string[],
  print: (line: string) => void,
): Promise<boolean> {
  const demo = addresses.length > 0 ? null : readDemo(settings.COUNTERFOIL_DATA);
  const asked = demo ? [demo.base_url] : addresses;
  if (asked.length === 0) {
    throw new OperatorError(
      `There is no running installation in ${settings.COUNTERFOIL_DATA}. Name the processes of the api: ` +
        'counterfoil status http://10.0.0.11:4000',
    );
  }
  let isReady = true;
  for (const address of asked) {
    const report = await reportOf(address);
    isReady &&= report.ready;
    for (const line of statusLines(address, report)) print(line);
  }
  return isReady;
}

/** The lines about one process. */
export function statusLines(address: string, { ready, checks }: Report): string[] {
  const failing = checks.filter(({ status }) => status === 'failing');
  const members = checks.flatMap(({ details }) => details?.members ?? []);
  return [
    `${address}: ${ready ? 'ready' : 'not ready'}`,
    ...failing.map(({ name, message = 'failing', required }) =>
      required ? `  ${name}: ${message}` : `  ${name} (not required): ${message}`,
    ),
    ...(members.length > 0 ? [`  members: ${members.join(', ')}`] : []),
  ];
}

async function reportOf(address: string): Promise<Report> {
  const url = `${address.replace(/\/$/, '')}/readyz`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(answerMilliseconds) });
    return reportSchema.parse(await answer.json());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`${url} does not answer as a process of the api does: ${reason}`);
  }
}
