import { Command } from 'commander';
import { seedDemoTenant } from './seed.ts';
import { OperatorError, readSettings, secretKeyOf, serverUrls } from './settings.ts';
import { up } from './up/command.ts';

const program = new Command('counterfoil').description(
  'Event-sourced billing, entitlement and wallet service',
);

program
  .command('up')
  .description('start everything that is not configured, and a demo tenant')
  .action(() => up(readSettings()));

program
  .command('seed')
  .description('create the demo tenant; doing it again changes nothing')
  .action(async () => {
    const settings = readSettings();
    const seeded = await seedDemoTenant(serverUrls(settings).eventStoreUrl, secretKeyOf(settings));
    process.stdout.write(
      `${JSON.stringify({ tenant_id: seeded.tenantId, environment_id: seeded.environmentId, api_key: seeded.apiKey })}\n`,
    );
  });

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof OperatorError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
