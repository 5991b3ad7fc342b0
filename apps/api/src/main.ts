import { createLog, readConfig, runService } from '@counterfoil/engine';
import { apiConfigSchema, startApi } from './index.ts';

const config = readConfig(apiConfigSchema);

await runService({
  name: 'api',
  log: createLog({ level: config.LOG_LEVEL, name: 'api' }),
  start: (readiness) => startApi(config, { health: [readiness] }),
  ready: ({ port, operatorPort }) => ({ port, operator_port: operatorPort }),
});
