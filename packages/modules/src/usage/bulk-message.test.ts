import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isBulk } from './bulk-message.ts';

const test = suite('messages with usage');

const event = '{"event_name": "tokens", "external_customer_id": "acme"';

for (const [what, text, expected] of [
  ['a bulk', '{"events":[]}', true],
  ['a bulk with white space', ' \n{\t"events" : [ ] }', true],
  ['a bulk whose member comes late', '{"source": {"a": [1, "}"]}, "b": "\\"", "events": []}', true],
  ['a bulk whose name has escapes', '{"\\u0065vents": []}', true],
  ['an event', `${event}}`, false],
  ['an event that says so deep within', `${event}, "properties": {"events": 1}}`, false],
  ['an event that says so in a text', `${event}, "source": "events", "a": ["events"]}`, false],
  ['an event behind a text that ends in a backslash', `{"a\\\\": 1, "b": "events"}`, false],
  ['a list', '["events"]', false],
  ['a list of bulks', '[{"events": []}]', false],
  ['a text', '"events"', false],
  ['nothing', '', false],
  ['what breaks off', '{"event_name": "tok', false],
  ['what has no end', '{"a": "\\', false],
  ['a bulk behind the end of an event', `${event}} {"events": []}`, false],
] as const) {
  test(`${what} is told`, () => assert.is(isBulk(Buffer.from(text)), expected));
}

test.run();
