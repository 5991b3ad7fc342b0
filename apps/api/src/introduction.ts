/** The introduction to the API in its OpenAPI document, in Markdown. */
export const introduction = `Event-sourced billing, entitlement and wallet service.

## Authentication

Every request below \`/v1\` has an API key in the header \`x-api-key\`. The key belongs to a user, to one
tenant and to one environment: a request sees and changes the records of that environment only. An unknown
key is answered 401, a right that the roles of the key do not give 403.

## Idempotency

Send an \`Idempotency-Key\` with every \`POST\`. A request that is repeated with the same key and the same
body gets the first outcome, with \`Idempotency-Replayed: true\`, for ever. The same key with another body is
409 and names the field that differs.

## Paging

Lists take \`limit\` (1 to 1,000, 50 by default) and \`offset\`, and answer with \`items\` and a \`pagination\`
of \`limit\`, \`offset\` and \`total\`. \`sort\` names a field (\`created_at\` by default) and \`order\` the
direction (\`desc\`). Searches take the same in their body, with \`filters\` on any field. A parameter that the
list does not know is refused.

## Updates and deletions

An update changes the fields that are given. \`""\` and null clear an optional text; \`metadata\` replaces the
pairs that there were. Customers and records of the catalogue that are deleted are archived, unless the operation
says otherwise: they are read by their ids, can no longer be changed, and lists leave them out; their lookup_key,
code or external_id is free again.

## Consistency

A write is durable when it is answered. Lists follow it in milliseconds. To see at least what a request has
written, send its \`Counterfoil-Position\` as \`Counterfoil-Min-Position\`; \`Counterfoil-Lag-Ms\` says how
far an answer may be behind. A record whose \`ETag\` begins with a revision, such as \`"5-3qW8x2Lk_0aZr7Qe"\`,
can be changed under \`If-Match\`: 412 when somebody else was first. A \`GET\` with an \`ETag\` in
\`If-None-Match\` is 304 while that is current.

## Headers

Every request may have

- \`X-Request-Id\`: an id for it, of at most 128 visible ASCII characters; one is made when absent;
- \`Counterfoil-Min-Position\`: the position, of at most 20 digits, that the answer must include; 503 when that
  takes too long, 400 when the log ends before it;
- \`Prefer: handling=lenient\`: members of the request that nobody knows are ignored, and do not refuse it.

Every answer has

- \`X-Request-Id\`: the id of the request;
- \`Location\`, when it has made a record that can be read by its id: the path of it;
- \`ETag\`, when it has a body: it covers the whole body;
- \`Counterfoil-Position\`: the position in the log of what the request wrote, or up to which what it read
  shows the log;
- \`Counterfoil-Lag-Ms\`, when it reads: how many milliseconds the answer may be behind the log;
- \`Counterfoil-Ignored\`, when there are any: JSON pointers to members of the request without an effect;
- \`RateLimit\` and \`RateLimit-Policy\`: what is left of the limit of the API key, until when, and the limit.

## Amounts

Amounts of money and credits are decimals in strings, such as \`"12.50"\`: no figure is ever rounded on its way.
A request may send them as numbers too; one with more fraction digits than the pattern of its field has is refused.
Instants are RFC 3339 in UTC. \`null\` means absent.

## Errors

Every failure has one body: \`code\`, \`message\`, \`http_status_code\`, and where it helps \`details\` and
\`errors\`, with a JSON pointer to each wrong field. All codes are at \`/docs/problems\`. 429 and 503 say in
\`Retry-After\` when to repeat. \`X-Request-Id\` names the request in the logs of the service.

## Events

Changes are told by webhooks (below), on NATS (\`/asyncapi.json\`) and in \`GET /v1/feed\`, each with one body.
`;

/** The introduction to the operator API. */
export const operatorIntroduction = `Tenants, environments, users and API keys, for those who run the installation.

Every request has the operator's key in the header \`x-api-key\`. No key of a tenant counts here. Failures,
paging and \`If-Match\` are those of the API.
`;
