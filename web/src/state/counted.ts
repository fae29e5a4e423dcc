import { beganAt } from '../stream/dac_counts.ts';
import { connection, type InstanceCells } from './store.ts';

/** The scope of the numbers on missing samples, and how bad they are; page.md, "Missing samples", explains both. */

/**
 * Returns since when the DAC counts the samples of an instance, in milliseconds by its clock; undefined if that is unknown. A
 * relay has the counts of the node's home.
 */
export function countedSince(cells: InstanceCells): number | undefined {
  const home = cells.node.value?.path[0];
  return beganAt(home ? home.epoch : connection.value.epoch);
}

/** Returns the missing samples that neither the DAC nor this page can explain. */
export function unexplainedOf(cells: InstanceCells): number {
  const here = cells.loss.value?.causesHere.get('unexplained') ?? 0;
  return (cells.counts.value?.unexplained ?? 0) + here;
}

export function toneOfLoss(cells: InstanceCells): '' | 'is-warn' | 'is-bad' {
  if (unexplainedOf(cells) > 0) return 'is-bad';
  const missing = (cells.counts.value?.missing ?? 0) + (cells.loss.value?.notHere ?? 0);
  return missing > 0 ? 'is-warn' : '';
}
