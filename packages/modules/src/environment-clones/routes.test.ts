import type { Principal } from '@counterfoil/engine/define';
import { type EnvironmentId, invariant } from '@counterfoil/kernel';
import {
  callRoute,
  type Idempotency,
  memoryWorld,
  pointersOf,
  reactTo,
  rejection,
  testPrincipal,
} from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { catalogTransfer, exportCatalog, importCatalog } from '../catalog-transfer/index.ts';
import { modules } from '../index.ts';
import { createDirectory, createEnvironment, environment } from '../tenancy/index.ts';
import { cloneRoutes } from './routes.ts';

const test = suite('clones of environments');

const documentOf = (name: string) => ({
  version: 1 as const,
  groups: [{ name, lookup_key: name.toLowerCase(), entity_type: 'feature' as const }],
  features: [{ name, type: 'static' as const, lookup_key: name.toLowerCase() }],
});

/** A tenant with the environments `env_01`, whose catalogue has something in it, and `env_02`. */
async function tenantWithTwo() {
  const world = memoryWorld(modules({ secrets: null }).flatMap(({ aggregates }) => aggregates));
  const routes = cloneRoutes(createDirectory());
  const as = (principal: Principal, idempotency?: Idempotency) =>
    world.request(principal, idempotency);
  const inside = (id: string) => as(testPrincipal(id));
  for (const id of ['env_01', 'env_02'] as EnvironmentId[]) {
    const fields = { name: id, type: 'production' as const, timezone: 'Asia/Tokyo' };
    await inside(id).execute(environment, id, createEnvironment(id, fields));
  }
  const fill = (id: string, name: string) =>
    importCatalog(inside(id), { document: documentOf(name), dry_run: false, prune: false });
  await fill('env_01', 'Models');
  return {
    world,
    inside,
    fill,
    clone: (body: object, id = 'env_01', context = inside('env_01')) =>
      callRoute(routes['POST /environments/{id}/clone'], context, { params: { id }, body }),
    exported: (id: string) => exportCatalog(inside(id)),
    environmentOf: (id: string) => inside('env_01').load(environment, id),
    as,
  };
}

test('a new environment has the catalogue of the source, and its type and zone', async () => {
  const { clone, exported, environmentOf } = await tenantWithTwo();
  const { environment_id, workflow_id } = await clone({ name: 'Staging' });
  assert.match(workflow_id, /^cimp_/);
  assert.equal(await exported(environment_id), await exported('env_01'));
  const made = await environmentOf(environment_id);
  assert.equal([made?.name, made?.type, made?.timezone], ['Staging', 'production', 'Asia/Tokyo']);
});

test('a type that is asked for is that of the new environment', async () => {
  const { clone, environmentOf } = await tenantWithTwo();
  const { environment_id } = await clone({ name: 'Staging', type: 'development' });
  assert.is((await environmentOf(environment_id))?.type, 'development');
});

test('an environment that is there keeps what it has beside the copy', async () => {
  const { clone, exported, fill } = await tenantWithTwo();
  await fill('env_02', 'Own');
  await clone({ target_environment_id: 'env_02' });
  const { features } = await exported('env_02');
  assert.equal(
    features?.map(({ name }) => name),
    ['Models', 'Own'],
  );
});

test('copying once more changes nothing and is told all the same', async () => {
  const { clone, exported } = await tenantWithTwo();
  await clone({ target_environment_id: 'env_02' });
  const before = await exported('env_02');
  assert.match((await clone({ target_environment_id: 'env_02' })).workflow_id, /^cimp_/);
  assert.equal(await exported('env_02'), before);
});

test('a repetition with the same idempotency key makes no second environment', async () => {
  const { clone, as, world } = await tenantWithTwo();
  const request = () =>
    as(testPrincipal('env_01'), { key: 'k1', operation: 'clone', fields: { name: 'Staging' } });
  const first = await clone({ name: 'Staging' }, 'env_01', request());
  const events = world.store.log.length;
  assert.equal(await clone({ name: 'Staging' }, 'env_01', request()), first);
  assert.is(world.store.log.length, events);
});

test('the same idempotency key with another target is a conflict, and copies nothing', async () => {
  const { clone, as, exported, world } = await tenantWithTwo();
  const clones = (body: Record<string, unknown>) =>
    clone(body, 'env_01', as(testPrincipal(), { key: 'k1', operation: 'clone', fields: body }));
  await clones({ name: 'Staging' });
  const events = world.store.log.length;
  for (const body of [{ target_environment_id: 'env_02' }, { name: 'Other' }]) {
    assert.is((await rejection(clones(body))).code, 'idempotency_conflict');
  }
  assert.is(world.store.log.length, events);
  assert.equal((await exported('env_02')).features, []);
});

test('a clone that the process did not live to finish is finished by the reaction, environment included', async () => {
  const { clone, exported, environmentOf, inside, world } = await tenantWithTwo();
  const isDecision = (stream: string) => /^(catalog_import|environment)-/.test(stream);
  let decided = false;
  world.store.fate = (stream) => {
    if (decided || !isDecision(stream)) return 'unavailable';
    decided = stream.startsWith('catalog_import');
    return 'written';
  };
  await rejection(clone({ name: 'Staging' }));
  world.store.fate = () => 'written';
  const started = world.store.log.at(-1);
  assert.is(started?.type, 'CatalogImportStarted');
  const [, target = '', id = ''] = /-(env_\w+)\.(\w+)$/.exec(started?.stream ?? '') ?? [];
  assert.is(await environmentOf(target), null);
  const [importCarriedOut] = catalogTransfer.reactions ?? [];
  invariant(importCarriedOut, 'imports have no reaction');
  await reactTo(inside(target), importCarriedOut, id);
  assert.is((await environmentOf(target))?.name, 'Staging');
  assert.equal(await exported(target), await exported('env_01'));
});

test('a new one and one that is there are not asked for together, nor the source itself', async () => {
  const { body: schema = z.never() } = cloneRoutes(createDirectory())[
    'POST /environments/{id}/clone'
  ];
  assert.equal(pointersOf(schema, {}), ['/name']);
  const both = { name: 'Staging', target_environment_id: 'env_02' };
  assert.equal(pointersOf(schema, both), ['/target_environment_id']);
  const { clone } = await tenantWithTwo();
  const itself = await rejection(clone({ target_environment_id: 'env_01' }));
  assert.is(itself.code, 'validation_error');
});

test('an environment that does not exist is not found, and the field is named', async () => {
  const { clone } = await tenantWithTwo();
  const target = await rejection(clone({ target_environment_id: 'env_09' }));
  assert.equal([target.code, target.details?.field], ['not_found', 'target_environment_id']);
  const source = await rejection(clone({ name: 'Staging' }, 'env_09'));
  assert.equal([source.code, source.details?.field], ['not_found', 'id']);
});

test('nobody but an admin clones', async () => {
  const { clone, as } = await tenantWithTwo();
  const writer = { ...testPrincipal('env_01'), roles: ['all_writer'] };
  const problem = await rejection(clone({ name: 'Staging' }, 'env_01', as(writer)));
  assert.is(problem.code, 'permission_denied');
});

test.run();
