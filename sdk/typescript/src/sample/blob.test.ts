import { expect, it } from 'vitest';
import { encodeBatch } from '../batch/encode.ts';
import {
  DecodeError,
  decodeBatch,
  EncodeError,
  parseSchema,
  RowReader,
  RowWriter,
  SchemaError,
} from '../index.ts';
import { CdrReader, CdrWriter } from './cdr.ts';

const image = Uint8Array.from({ length: 300 }, (_, index) => index % 256);
const schemaOf = (type: unknown) => ({
  name: 'Camera',
  uuid: '7b2b7f0e-0f6c-4b6f-9f0e-2a1d1c6f4a01',
  version: '1.0',
  metrics: [{ name: 'image', type }],
});
const blob = (media_type: unknown, max_bytes: unknown) => ({ blob: { media_type, max_bytes } });

it.each([
  ['rows', () => new RowWriter(), (bytes: Uint8Array) => new RowReader(bytes)],
  ['packets', () => new CdrWriter('little'), (bytes: Uint8Array) => new CdrReader(bytes, 'little')],
] as const)('writes and reads files in %s, up to their bound', (_, writer, reader) => {
  const to = writer();
  to.blob(image, 300, 'image');
  expect(reader(to.bytes()).blob(300)).toEqual(image);
  expect(() => reader(to.bytes()).blob(299)).toThrow(DecodeError);
  expect(() => writer().blob(image, 299, 'image')).toThrow(EncodeError);
});

it('decodes a batch to views of its bytes, and refuses a file beyond the bound of its type', () => {
  const { metrics } = parseSchema(schemaOf(blob('image/png', 300)));
  const codec = {
    name: 'Camera',
    uuid: '7b2b7f0e-0f6c-4b6f-9f0e-2a1d1c6f4a01',
    version: '1.0',
    schema: JSON.stringify(schemaOf(blob('image/png', 300))),
    create: () => image,
    write: (value: Uint8Array, to: { blob(value: Uint8Array, max: number, metric: string): void }) =>
      to.blob(value, 300, 'image'),
    read: (source: { blob(max: number): Uint8Array }) => source.blob(300),
  };
  const bytes = encodeBatch([{ time: 5n, sample: image }], codec, { firstSequence: 1n, nodeTime: 5n });
  const batch = decodeBatch(bytes, [metrics[0]!.type]);
  const [found] = batch.metrics[0] as unknown as Uint8Array[];
  expect(found).toEqual(image);
  expect(found!.buffer).toBe(bytes.buffer);
  const smaller = parseSchema(schemaOf(blob('image/png', 299))).metrics[0]!.type;
  expect(() => decodeBatch(bytes, [smaller])).toThrow(DecodeError);
});

it.each([
  blob('image/svg+xml', 9),
  blob('image/jpeg', 0),
  blob('image/jpeg', 491_521),
  blob('image/jpeg', '9'),
  { vector: blob('image/jpeg', 9) },
  { struct: { name: 'S', members: [{ name: 'inner', type: blob('image/jpeg', 9) }] } },
])('refuses the type %j', (type) => {
  expect(() => parseSchema(schemaOf(type))).toThrow(SchemaError);
});
