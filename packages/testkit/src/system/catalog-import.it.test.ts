import { createStreams, systemContext } from '@counterfoil/engine';
import { derivedId } from '@counterfoil/kernel';
import { catalogImport, modules, startImport } from '@counterfoil/modules';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack } from '../stack.ts';

const test = suite('an import whose process has died');

let stack: SharedStack;
test.before(async () => {
  stack = await sharedStack();
});

test('the projector goes on with what is decided and not carried out', async () => {
  const tenant = await stack.tenant('catalog-import');
  const aggregates = modules({ secrets: null }).flatMap((slice) => slice.aggregates);
  const streams = createStreams({ store: stack.store, aggregates });
  const context = systemContext(streams, { ...tenant, correlationId: 'test' });
  const id = derivedId('cimp', tenant.environmentId);
  const groupId = derivedId('group', tenant.environmentId);
  const data = { id: groupId, name: 'G', lookup_key: 'g', entity_type: 'price', metadata: {} };
  const events = [{ type: 'GroupCreated', data }];
  const steps = [{ aggregate: 'group', id: groupId, events }];
  const change = { section: 'groups', key: 'g', action: 'created' } as const;
  await context.execute(
    catalogImport,
    id,
    startImport({ id, prune: false, steps, changes: [{ ...change, details: [] }], unchanged: 0 }),
  );
  await eventually(
    async () =>
      (await tenant.call('GET', `/catalog/imports/${id}`)).body.import_status === 'finished',
    () => 'the import was never finished',
  );
  const group = await eventually(async () => {
    const { status, body } = await tenant.call('GET', `/groups/${groupId}`);
    return status === 200 && body;
  });
  assert.equal([group.lookup_key, group.created_by], ['g', 'system']);
});

test.run();
