import { createLog, installShutdown, readConfig } from '@counterfoil/engine';
import { startWebhooks, webhooksConfig, webhooksEnvironment } from './index.ts';

const environment = readConfig(webhooksEnvironment, process.env, { ownPrefix: 'WEBHOOK_' });
const config = webhooksConfig(environment);
const log = createLog({ level: environment.LOG_LEVEL, name: 'webhooks' });
// An attempt that is under way may take its full time before its outcome can be recorded.
const shutdown = installShutdown({ log, hookTimeoutMs: config.sendLimits.totalTimeout + 10_000 });
const worker = await startWebhooks(config, log, [shutdown.readiness]);
shutdown.onShutdown('webhooks', () => worker.stop());
process.stdout.write(
  `${JSON.stringify({ event: 'ready', port: worker.healthPort, pid: process.pid })}\n`,
);
