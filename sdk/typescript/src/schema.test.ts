import { describe, expect, it } from 'vitest';
import { enumeratorOf, judge, type Metric, parseSchema } from './index.ts';

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
  it('contains the meaning of its numbers', () => {
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

  it('is accepted with an invalid meaning', () => {
    const nonsense = { enum: 'Mode', min: '0', max: null, warn: [], alarm: 5 };
    expect(metric({ type: 'uint8', ...nonsense })).toEqual({ name: 'm', type: 'uint8' });
    const values = [null, { name: 'A' }, { name: 'B', value: 'x' }, { name: 'C', value: 1, doc: 5 }];
    expect(metric({ type: 'uint8', enum: { name: 'E', values } }).enum?.values).toEqual([
      { name: 'C', value: 1 },
    ]);
  });

  it('contains the range of rates for demand', () => {
    const rate = (rate: unknown) =>
      parseSchema({ name: 'Plant::Line', uuid: 'u', version: '1.0', rate, metrics: [] }).rate;
    expect(rate({ demand: { min: 0.5, max: 100 } })).toEqual({ demand: { min: 0.5, max: 100 } });
    for (const nonsense of [undefined, 'fast', {}, { demand: { min: 2, max: 1 } }, { demand: { min: 0 } }]) {
      expect(rate(nonsense)).toBeUndefined();
    }
  });

  it('returns the severity of a value', () => {
    const worth = (meaning: object, value: unknown) => judge(metric({ type: 'real32', ...meaning }), value);
    const limits = { min: -40, max: 150, warn: { below: 5, above: 80 }, alarm: { above: 95 } };
    expect(worth(limits, 20)).toBeUndefined();
    expect(worth(limits, 80)).toBeUndefined();
    expect(worth(limits, 80.5)).toEqual({ severity: 'warn', because: 'above 80' });
    expect(worth(limits, 4)).toEqual({ severity: 'warn', because: 'below 5' });
    expect(worth(limits, 96)).toEqual({ severity: 'alarm', because: 'above 95' });
    expect(worth({ max: 10 }, 11n)).toEqual({ severity: 'warn', because: 'above 10' });
    expect(worth({ enum: MODE, alarm: { values: [6] } }, 6)).toEqual({
      severity: 'alarm',
      because: 'FAILED',
    });
    expect(worth(limits, Number.NaN)).toBeUndefined();
    expect(worth(limits, 'hot')).toBeUndefined();
  });

  it('returns the name of a number', () => {
    expect(enumeratorOf(MODE, 6)?.name).toBe('FAILED');
    expect(enumeratorOf(MODE, 5)).toBeUndefined();
    expect(enumeratorOf(undefined, 0)).toBeUndefined();
  });
});
