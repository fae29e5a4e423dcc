import { describe, expect, it } from 'vitest';
import { enumeratorOf, type Metric, parseSchema } from './index.ts';

function metric(fields: object): Metric {
  const schema = { name: 'Plant::Line', uuid: 'u', version: '1.0', metrics: [{ name: 'm', ...fields }] };
  return parseSchema(schema).metrics[0] as Metric;
}

const MODE = {
  name: 'Plant::Mode',
  values: [
    { name: 'IDLE', value: 0, doc: 'Nothing moves.' },
    { name: 'FAILED', value: 6 },
  ],
};

describe('a schema', () => {
  it('keeps what its numbers mean', () => {
    const enumerated = { name: 'm', type: 'uint8', enum: MODE, alarm: { values: [6] } } as const;
    expect(metric(enumerated)).toEqual(enumerated);
    const limited = {
      name: 'm',
      type: { vector: 'real32' },
      min: -40,
      max: 150.5,
      warn: { below: 5, above: 80 },
    } as const;
    expect(metric(limited)).toEqual(limited);
    const member = { name: 'line', type: { struct: { name: 'S', members: [enumerated, limited] } } } as const;
    expect(metric(member)).toEqual(member);
  });

  it('is not refused for a meaning that makes no sense', () => {
    const nonsense = { enum: 'Mode', min: '0', max: null, warn: [], alarm: 5 };
    expect(metric({ type: 'uint8', ...nonsense })).toEqual({ name: 'm', type: 'uint8' });
    const values = [null, { name: 'A' }, { name: 'B', value: 'x' }, { name: 'C', value: 1, doc: 5 }];
    expect(metric({ type: 'uint8', enum: { name: 'E', values } }).enum?.values).toEqual([
      { name: 'C', value: 1 },
    ]);
  });

  it('tells the name of a number', () => {
    expect(enumeratorOf(MODE, 6)?.name).toBe('FAILED');
    expect(enumeratorOf(MODE, 5)).toBeUndefined();
    expect(enumeratorOf(undefined, 0)).toBeUndefined();
  });
});
