import { type Batch, type Column, isBlob, type MediaType, type Metric, type Value } from '@oasis/wire';

/**
 * Replaces files in a batch by text that says what they are. Images are kept apart ({@link Frames}): lists, cards and rates are
 * for values that people read.
 */
export function withoutBlobs(batch: Batch, metrics: readonly Metric[]): Batch {
  if (!metrics.some(({ type }) => isBlob(type))) return batch;
  const columns = batch.metrics.map((column, index): Column => {
    const type = metrics[index]?.type;
    if (type === undefined || !isBlob(type)) return column;
    const texts = Array.from(column as ArrayLike<Value | undefined>, (value) =>
      value instanceof Uint8Array ? describeBlob(type.blob.media_type, value.length) : value,
    );
    return texts as Column;
  });
  return { ...batch, metrics: columns };
}

export function describeBlob(mediaType: MediaType, bytes: number): string {
  return `${mediaType}, ${bytes} B`;
}
