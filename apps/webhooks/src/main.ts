import { createLog, readConfig, runService } from '@counterfoil/engine';
import { startWebhooks, webhooksConfig, webhooksEnvironment } from './index.ts';

const environment = readConfig(webhooksEnvironment, process.env, { ownPrefix: 'WEBHOOK_' });
const config = webhooksConfig(environment);
const log = createLog({ level: environment.LOG_LEVEL, name: 'webhooks' });

await runService({
  name: 'webhooks',
  log,
  // An attempt that is under way may take its full time before its outcome can be recorded.
  endMs: config.sendLimits.totalTimeout + 10_000,
  start: (readiness) => startWebhooks(config, log, [readiness]),
  ready: ({ healthPort }) => ({ port: healthPort }),
});
