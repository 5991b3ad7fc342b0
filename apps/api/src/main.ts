import { createLog, installShutdown, readConfig } from '@counterfoil/engine';
import { apiConfigSchema, startApi } from './index.ts';

const config = readConfig(apiConfigSchema);
const log = createLog({ level: config.LOG_LEVEL, name: 'api' });
const shutdown = installShutdown({ log });
const api = await startApi(config, { health: [shutdown.readiness] });
shutdown.onShutdown('api', () => api.stop());
const { port, operatorPort } = api;
const ready = { event: 'ready', port, operator_port: operatorPort, pid: process.pid };
process.stdout.write(`${JSON.stringify(ready)}\n`);
