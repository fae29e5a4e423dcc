/** Batches whose delays are remembered. */
const MAX_DELAYS = 8;
/** Longer delays are those of a backlog, which ends, unless all batches have them. */
const MAX_NODE_MS = 3000;
/** Longest way from DAC to page of a sample that is sent at once. The DAC has read later ones from its log. */
export const MAX_DOOR_MS = 2000;

/**
 * Recent delays of samples. A sample that was taken since may still be on its way: this close to
 * the present it is unknown whether the probe is silent.
 */
export class Delays {
  private kept: number[] = [];

  /** Adds a batch: milliseconds from its first sample to the DAC, and from there. */
  add(toDac: number, fromDac: number): void {
    this.kept = [...this.kept, Math.max(0, toDac) + Math.min(MAX_DOOR_MS, Math.max(0, fromDac))].slice(
      -MAX_DELAYS,
    );
  }

  get longest(): number {
    const { kept } = this;
    const usual = kept.length === MAX_DELAYS ? Math.min(...kept) : 0;
    return Math.max(usual, Math.min(MAX_NODE_MS + MAX_DOOR_MS, Math.max(0, ...kept)));
  }
}
