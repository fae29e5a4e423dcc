const MAX_EXCHANGES = 8;

export interface ClockEstimate {
  /** DAC clock minus browser clock, in milliseconds. */
  readonly offset: number;
  /** Round trip of the exchange that the offset comes from. */
  readonly roundTrip: number;
}

/** Clock offset from the fastest of the last exchanges (websocket.md, "Age"): a shorter round trip has a smaller error. */
export class ClockOffset {
  private readonly exchanges: ClockEstimate[] = [];

  add(sent: number, received: number, dacTime: number): void {
    this.exchanges.push({ offset: dacTime - (sent + received) / 2, roundTrip: received - sent });
    if (this.exchanges.length > MAX_EXCHANGES) this.exchanges.shift();
  }

  get best(): ClockEstimate | undefined {
    let best: ClockEstimate | undefined;
    for (const exchange of this.exchanges) {
      if (!best || exchange.roundTrip < best.roundTrip) best = exchange;
    }
    return best;
  }

  /** Forgets all exchanges: another connection may lead to another machine. */
  reset(): void {
    this.exchanges.length = 0;
  }
}
