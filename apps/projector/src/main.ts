import { createLog, installShutdown, readConfig } from '@counterfoil/engine';
import { projectorConfigSchema, startProjectorApp } from './index.ts';

const config = readConfig(projectorConfigSchema);
const log = createLog({ level: config.LOG_LEVEL, name: 'projector' });
const shutdown = installShutdown({ log });
const app = await startProjectorApp(config, [shutdown.readiness]);
shutdown.onShutdown('projector', () => app.stop());
process.stdout.write(
  `${JSON.stringify({ event: 'ready', port: app.healthPort, pid: process.pid })}\n`,
);
