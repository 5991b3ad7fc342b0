/**
 * The body of an endpoint that wants ids alone: of every record in it the id is left. What is no
 * record, such as the type, stays as it is. The same body gives the same bytes.
 */
export function thinBody(body: Buffer): Buffer {
  const whole = JSON.parse(body.toString('utf8')) as Readonly<Record<string, unknown>>;
  const members = Object.entries(whole).map(([name, value]) => [name, thinMember(value)] as const);
  return Buffer.from(JSON.stringify(Object.fromEntries(members)));
}

function thinMember(value: unknown): unknown {
  const isRecord = typeof value === 'object' && value !== null && 'id' in value;
  return isRecord ? { id: value.id } : value;
}
