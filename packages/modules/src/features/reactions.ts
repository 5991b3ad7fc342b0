import { reaction } from '@counterfoil/engine/define';
import { Problem } from '@counterfoil/kernel';
import { meter, meterRecords, replaceFilters, retireMeter } from '../meters/index.ts';
import { feature } from './feature.ts';

/** The meter that a feature brings is created, and gets the filters that the feature asks for. */
export const meterOfFeature = reaction(feature, {
  name: 'meter of a feature',
  on: {
    FeatureCreated: async ({ data: { meter_id, meter: definition } }, context) => {
      if (meter_id === null || !definition) return;
      await context.execute(meter, meter_id, meterRecords.create({ ...definition, id: meter_id }));
    },
    FeatureUpdated: async ({ aggregate_id, data }, context) => {
      if (!data.meter_filters) return;
      const asking = await context.load(feature, aggregate_id);
      const meterId = asking?.meter_id ?? null;
      if (meterId === null) return;
      // Those that were asked for last: a later event may have been carried out already.
      const filters = asking?.meter_filters;
      await context.execute(meter, meterId, (state, at) =>
        state?.status === 'published' ? replaceFilters(meterId, filters)(state, at) : [],
      );
    },
  },
});

/** The meter of an archived feature is stopped, unless something else refers to it. */
export const meterStop = reaction(feature, {
  name: 'stop of the meter of a feature',
  on: {
    FeatureArchived: async ({ aggregate_id: id }, context) => {
      const meterId = (await context.load(feature, id))?.meter_id ?? null;
      if (meterId === null) return;
      try {
        await context.execute(meter, meterId, retireMeter());
      } catch (error) {
        // The refusal of what still uses it: another feature, or a price.
        if (!(error instanceof Problem) || error.code !== 'invalid_operation') throw error;
      }
    },
  },
});
