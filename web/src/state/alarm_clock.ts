import { connection, nodeOf } from './store.ts';

/** Converts a time of a node's clock to the browser's, as charts do; milliseconds. Reads signals. */
export function byBrowser(node: string, time: number): number {
  return time + offsetOf(node);
}

/** Converts a time of the browser's clock to that of a node. Reads signals. */
export function byNode(node: string, time: number): number {
  return time - offsetOf(node);
}

/** Converts a time of the DAC's clock to the browser's. Reads signals. */
export function byBrowserOfDac(time: number): number {
  return time - (connection.value.clock?.offset ?? 0);
}

function offsetOf(node: string): number {
  return (nodeOf(node)?.clock_offset_ns ?? 0) / 1e6 - (connection.value.clock?.offset ?? 0);
}
