import type { Command } from 'commander';
import type { ApiPlace } from '../http-api.ts';
import { secondTenant, seedDemoTenant, seedTenant } from '../seed.ts';
import { readDemo, readSettings, secretKeyOf, serverUrls } from '../settings.ts';
import { fillCatalogue, fillCustomers } from './fill.ts';
import { untilKnown } from './until-known.ts';

/** Adds `seed` to the program. */
export function addSeedCommand(program: Command, print: (line: string) => void): void {
  program
    .command('seed')
    .description(
      'create two tenants with a catalogue and customers; doing it again changes nothing',
    )
    .option('--url <url>', 'of the API; by default that of the running local installation')
    .action(async ({ url }: { readonly url?: string }) => {
      const settings = readSettings();
      const { eventStoreUrl } = serverUrls(settings);
      const secretKey = secretKeyOf(settings);
      const baseUrl = url ?? readDemo(settings.COUNTERFOIL_DATA)?.base_url;
      const tenants = [
        await seedDemoTenant(eventStoreUrl, secretKey),
        await seedTenant(eventStoreUrl, secretKey, secondTenant),
      ];
      for (const { tenantId, environmentId, apiKey } of tenants) {
        if (baseUrl !== undefined) await fill({ baseUrl, apiKey });
        print(
          JSON.stringify({ tenant_id: tenantId, environment_id: environmentId, api_key: apiKey }),
        );
      }
      if (baseUrl === undefined) {
        process.stderr.write('The tenants are empty: give --url to fill their catalogues.\n');
      }
    });
}

async function fill(place: ApiPlace): Promise<void> {
  await untilKnown(place);
  await fillCatalogue(place);
  await fillCustomers(place);
}
