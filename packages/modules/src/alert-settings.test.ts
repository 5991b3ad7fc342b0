import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { alertSettingsInput, changedAlertSettingsInput } from './alert-settings.ts';

const test = suite('alert settings of a request');

const level = { threshold: '5' };

const whole: readonly [string, object, string | null][] = [
  ['one level', { critical: level }, null],
  ['any level', { info: level }, null],
  ['the first two levels', { critical: level, warning: level }, null],
  ['no level, but switched off', { alert_enabled: false }, null],
  ['no level', {}, 'critical'],
  ['no level, and switched on', { alert_enabled: true }, 'critical'],
  ['levels that are null', { critical: null, info: null }, 'critical'],
  ['a warning alone', { warning: level }, 'critical'],
  ['a warning alone, switched off', { alert_enabled: false, warning: level }, 'critical'],
];

for (const [name, settings, refused] of whole) {
  test(`${name}: ${refused === null ? 'taken' : 'refused'}`, () => {
    const { error } = alertSettingsInput.safeParse(settings);
    assert.equal(error?.issues.map(({ path }) => path.join('/')) ?? [], refused ? [refused] : []);
  });
}

test('a change of some levels needs no others beside them', () => {
  for (const settings of [{}, { warning: level }, { critical: null }]) {
    assert.ok(changedAlertSettingsInput.safeParse(settings).success);
  }
});

test.run();
