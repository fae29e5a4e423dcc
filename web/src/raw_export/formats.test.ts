import { parseSchema } from '@oasis/wire';
import { expect, it } from 'vitest';
import { isoTime, lineWriter } from './formats.ts';

const SCHEMA = parseSchema({
  name: 'Plant::Arm',
  uuid: '0b3c9f0e-5d0c-4a7e-9a51-6f1c0e6a2d11',
  version: '1.0',
  metrics: [
    { name: 'count', type: 'uint64' },
    { name: 'Count', type: 'real64' },
    { name: 'time', type: 'string' },
    { name: 'mode', type: 'uint8', enum: { name: 'Mode', values: [{ name: 'IDLE', value: 0 }] } },
    { name: 'loads', type: { vector: 'int64' } },
    { name: 'pose', type: { struct: { name: 'Pose', members: [{ name: 'x', type: 'real64' }] } } },
  ],
});

const MESSAGE = {
  event: 'samples',
  node: 'plant "7"',
  instance: 'arm',
  node_time: '0',
  dac_time: '0',
  dropped_before: 0,
  samples: [
    {
      sequence: '7',
      offset: '6',
      time: '1763683200000000001',
      state: 0,
      metrics: {
        count: '18446744073709551615',
        Count: 'NaN',
        time: '=1+1',
        mode: 0,
        loads: ['9223372036854775807', '-1'],
        pose: { x: 2.5 },
      },
    },
  ],
} as const;

it('writes samples as CSV with the columns of tables.md', () => {
  const writer = lineWriter('csv', SCHEMA);
  expect(writer.head).toBe(
    'node,instance,time,time_ns,sequence,state,count,Count_2,time_2,mode,loads,pose.x\r\n',
  );
  expect(writer.lines(MESSAGE)).toBe(
    '"plant ""7""",arm,2025-11-21T00:00:00.000000001Z,1763683200000000001,7,0,18446744073709551615,NaN,\'=1+1,IDLE,"[9223372036854775807,-1]",2.5\r\n',
  );
});

it('writes samples as JSON lines with exact integers', () => {
  const text = lineWriter('jsonl', SCHEMA).lines(MESSAGE);
  expect(text).toBe(
    '{"node":"plant \\"7\\"","instance":"arm","sequence":7,"time":1763683200000000001,"state":0,"metrics":{"count":18446744073709551615,"Count":"NaN","time":"=1+1","mode":0,"loads":[9223372036854775807,-1],"pose":{"x":2.5}}}\n',
  );
  expect(JSON.parse(text).metrics.pose).toEqual({ x: 2.5 });
});

it('does not let a value out of its place', () => {
  const [sample] = MESSAGE.samples;
  const metrics = { count: '1,"admin":true', mode: null, pose: 'none' };
  const hostile = { ...MESSAGE, samples: [{ ...sample, metrics }] };
  const { metrics: found } = JSON.parse(lineWriter('jsonl', SCHEMA).lines(hostile as never));
  expect(found).toEqual({ count: '1,"admin":true', mode: null, pose: { x: null } });
  expect(lineWriter('csv', SCHEMA).lines(hostile as never)).toContain(',7,0,"1,""admin"":true",,,,,\r\n');
});

it('writes times to the nanosecond', () => {
  expect(isoTime('999')).toBe('1970-01-01T00:00:00.000000999Z');
});
