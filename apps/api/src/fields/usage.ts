/** The meaning of fields of usage. */
export const usageFields: Readonly<Record<string, string>> = {
  IngestedEvent: 'Usage to be recorded',
  UsageEvent: 'Usage that was recorded',
  UsageEvents: 'A page of usage',
  Usage: 'How much was used',
  source: 'System that the event comes from',
  properties: 'What an event says: its first level is what meters look at',
  'IngestedEvents.events': 'Events to be recorded',
  'UsageEvents.events': 'Events of the page',
  timestamp: 'When it was used',
  page_size: 'Most events of a page',
  aggregation_type: 'Way in which events become one figure',
  property_name: 'Property that is measured',
  group_by_property: 'Property whose values have a greatest value each',
  iter_first_key: 'Place of the first event',
  iter_last_key: 'Place of the last event: the next page follows it',
  window_size: 'Windows of time that are counted apart',
};
