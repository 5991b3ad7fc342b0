import { fillCatalogue } from '../seed/fill.ts';
import { newDemoKey, type Settings } from '../settings.ts';
import { type Installation, startInstallation } from './up.ts';

/** `counterfoil up`: starts everything, prints how to use it and runs until it is told to stop. */
export async function up(settings: Settings): Promise<void> {
  const startedAt = Date.now();
  process.stdout.write('Starting Counterfoil …\n');
  const installation = await startInstallation(settings);
  process.stdout.write(greeting(installation, settings, Date.now() - startedAt));
  const filling = new AbortController();
  const filled = fillDemo(installation, filling.signal);
  await untilStopped();
  process.stdout.write('\nStopping …\n');
  filling.abort();
  await filled;
  await installation.stop();
  process.stdout.write('Stopped. Everything is kept in the data folder.\n');
}

/**
 * Gives the demo tenant a catalogue, in the background: the installation is ready without it. An import that
 * was decided is carried out also after a stop in between.
 */
async function fillDemo({ demo }: Installation, signal: AbortSignal): Promise<void> {
  if (demo.api_key === null) return;
  try {
    await fillCatalogue({ baseUrl: demo.base_url, apiKey: demo.api_key }, signal);
  } catch (error) {
    if (signal.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`The demo tenant has no catalogue: ${reason}\n`);
  }
}

const greeting = ({ demo }: Installation, settings: Settings, milliseconds: number): string => `
Counterfoil is ready after ${(milliseconds / 1000).toFixed(1)} s.

  API         ${demo.base_url}/v1   (reference: ${demo.base_url}/docs)
  API key     ${demo.api_key ?? `none: it was revoked; the next line makes another one\n  ${newDemoKey(demo)}`}
  NATS        ${demo.nats_url}
  Data        ${settings.COUNTERFOIL_DATA}/   (addresses and key: demo.json, log: counterfoil.log)

Try it:

  curl ${demo.base_url}/v1/customers \\
    -H 'x-api-key: ${demo.api_key ?? '…'}' \\
    -H 'content-type: application/json' \\
    -d '{"external_id": "acme", "name": "Acme Inc"}'

Ctrl-C stops it.
`;

/** Resolves at the first signal; a second one ends the process at once. */
const untilStopped = (): Promise<void> =>
  new Promise((resolve) => {
    let isStopping = false;
    const onSignal = (): void => {
      if (isStopping) process.exit(1);
      isStopping = true;
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
