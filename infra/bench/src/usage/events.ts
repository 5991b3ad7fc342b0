/** Customers and names that the events of a load are spread over. */
const customers = 500;
const names = ['tokens', 'requests', 'storage', 'seats', 'transfer'] as const;
/** A meter for each name, so that every event goes into the sums of one. */
export const meters = [
  { event_name: 'tokens', aggregation: { type: 'SUM', field: 'count' } },
  { event_name: 'requests', aggregation: { type: 'COUNT' } },
  { event_name: 'storage', aggregation: { type: 'MAX', field: 'latency_ms' } },
  { event_name: 'seats', aggregation: { type: 'COUNT_UNIQUE', field: 'model' } },
  { event_name: 'transfer', aggregation: { type: 'AVG', field: 'count' } },
] as const;
const models = ['small', 'medium', 'large'] as const;
const regions = ['eu-west-1', 'eu-central-1', 'us-east-1', 'ap-southeast-2'] as const;

/** The id of an event by its request and its number in it. */
export const eventId = (ids: string, request: number, number: number): string =>
  `${ids}-${request}-${number}`;

/** The property `count` of an event: a decimal whose sum a reader of the tables can be held against. */
export const countOf = (request: number, number: number): number =>
  ((request + number) % 997) + 0.5;

/** The place of an event among the customers, names and values that it goes through. */
const placeOf = (request: number, number: number): number => request * 7 + number;

/** The sum of the property `count` over the events of the first name, which its meter tells. */
export function meteredSum(requests: number, events: number): number {
  let sum = 0;
  for (let request = 0; request < requests; request += 1) {
    for (let number = 0; number < events; number += 1) {
      if (placeOf(request, number) % names.length === 0) sum += countOf(request, number);
    }
  }
  return sum;
}

/** The text of an event as a sender makes it, with four properties: about 290 bytes. */
export function eventText(ids: string, request: number, number: number, at: string): string {
  const one = placeOf(request, number);
  return (
    `{"event_name":"${names[one % names.length]}","external_customer_id":"customer-${one % customers}",` +
    `"event_id":"${eventId(ids, request, number)}","timestamp":"${at}","source":"gateway",` +
    `"properties":{"model":"${models[one % models.length]}","region":"${regions[one % regions.length]}",` +
    `"count":${countOf(request, number)},"latency_ms":${(one * 13) % 2_000}}}`
  );
}

/** The body of a request with so many events. */
export function bodyOf(ids: string, request: number, events: number): string {
  const at = new Date().toISOString();
  if (events === 1) return eventText(ids, request, 0, at);
  let texts = eventText(ids, request, 0, at);
  for (let number = 1; number < events; number += 1) {
    texts += `,${eventText(ids, request, number, at)}`;
  }
  return `{"events":[${texts}]}`;
}
