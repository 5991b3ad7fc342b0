import type { Command } from 'commander';
import type { ApiPlace } from '../http-api.ts';
import { demoTenant, secondTenant, seedTenant } from '../seed.ts';
import { OperatorError, readDemo, readSettings, secretKeyOf } from '../settings.ts';
import { fillCatalogue, fillCustomers } from './fill.ts';
import { untilKnown } from './until-known.ts';

/** Adds `seed` to the program. */
export function addSeedCommand(program: Command, print: (line: string) => void): void {
  program
    .command('seed')
    .description(
      'fill the demo tenant and a second one with a catalogue and customers; again changes nothing',
    )
    .action(async () => {
      const settings = readSettings();
      const demo = readDemo(settings.COUNTERFOIL_DATA);
      if (!demo) {
        throw new OperatorError(
          `seed fills the demo tenants of npm start, and nothing was started in ${settings.COUNTERFOIL_DATA}. ` +
            'Elsewhere make tenants with: counterfoil tenants create',
        );
      }
      for (const input of [demoTenant, secondTenant]) {
        const secretKey = secretKeyOf(settings);
        const { tenantId, environmentId, apiKey } = await seedTenant(
          demo.eventstore_url,
          secretKey,
          input,
        );
        if (apiKey !== null) await fill({ baseUrl: demo.base_url, apiKey });
        print(
          JSON.stringify({ tenant_id: tenantId, environment_id: environmentId, api_key: apiKey }),
        );
      }
    });
}

async function fill(place: ApiPlace): Promise<void> {
  await untilKnown(place);
  await fillCatalogue(place);
  await fillCustomers(place);
}
