import { createLog, readConfig, runService } from '@counterfoil/engine';
import { projectorConfigSchema, startProjectorApp } from './index.ts';

const config = readConfig(projectorConfigSchema);

await runService({
  name: 'projector',
  log: createLog({ level: config.LOG_LEVEL, name: 'projector' }),
  start: (readiness) => startProjectorApp(config, [readiness]),
  ready: ({ healthPort }) => ({ port: healthPort }),
});
