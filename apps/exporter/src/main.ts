import { createLog, readConfig, runService } from '@counterfoil/engine';
import { exporterConfigSchema, startExporter } from './index.ts';

const config = readConfig(exporterConfigSchema);

await runService({
  name: 'exporter',
  log: createLog({ level: config.LOG_LEVEL, name: 'exporter' }),
  start: (readiness) => startExporter(config, [readiness]),
  ready: ({ healthPort }) => ({ port: healthPort }),
});
