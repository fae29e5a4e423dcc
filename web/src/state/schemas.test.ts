import { afterEach, expect, it, vi } from 'vitest';
import type { InstanceEntry } from '../stream/protocol.ts';
import { readSchemas, schemaOf } from './schemas.ts';
import { search } from './tree.ts';

const ENGINE = {
  name: 'Engine',
  uuid: 'engine',
  version: '1.0',
  metrics: [{ name: 'temperature', label: 'Coolant', type: 'real64' }],
};

function entry(id: number, uuid: string): InstanceEntry {
  return {
    id,
    node: 'plant-7',
    instance: `${uuid} ${id}`,
    type: uuid,
    uuid,
    version: '1.0',
  } as InstanceEntry;
}

/** A DAC that answers for each instance; undefined refuses. */
function answering(schemaOfId: (id: number) => unknown): string[] {
  const paths: string[] = [];
  vi.stubGlobal('document', { baseURI: 'http://dac/', cookie: '' });
  vi.stubGlobal('fetch', async (url: URL) => {
    paths.push(url.pathname);
    const schema = schemaOfId(Number(url.pathname.split('/').at(-1)));
    return new Response(JSON.stringify({ schema }), { status: schema ? 200 : 503 });
  });
  return paths;
}

afterEach(() => vi.unstubAllGlobals());

it('reads each type once, and finds instances by their metrics', async () => {
  const paths = answering(() => ENGINE);
  const engines = [entry(1, 'engine'), entry(2, 'engine')];
  expect(search(engines[1], ['cool'])).toBeUndefined();
  await readSchemas(engines);
  await readSchemas(engines);
  expect(paths).toEqual(['/api/v1/instances/1']);
  expect(search(engines[1], ['plant', 'temper'])).toEqual({ entry: engines[1], metric: 'Coolant' });
  expect(search(engines[1], ['plant'])).toEqual({ entry: engines[1], metric: undefined });
  expect(search(engines[1], ['temper', 'pressure'])).toBeUndefined();
});

it('asks again after a failure', async () => {
  answering(() => undefined);
  await readSchemas([entry(3, 'pump')]);
  expect(schemaOf(entry(3, 'pump'))).toBeUndefined();
  answering(() => ({ ...ENGINE, uuid: 'pump' }));
  await readSchemas([entry(3, 'pump')]);
  expect(schemaOf(entry(3, 'pump'))?.uuid).toBe('pump');
});
