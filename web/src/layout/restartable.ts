/** What is built up step by step, and may fail between two of them. */
interface Disposable {
  clear(): void;
  dispose(): void;
}

/** Keeps something that is made anew once it cannot be emptied: a step that failed may have left half of it behind. */
export class Restartable<T extends Disposable> {
  private made: T;
  private isEnded = false;

  constructor(
    private readonly make: () => T,
    /** Removes what is left of a former one. */
    private readonly sweep: () => void,
  ) {
    this.made = make();
  }

  get current(): T {
    return this.made;
  }

  /** Empties it, or makes another one. */
  clear(): void {
    try {
      this.made.clear();
    } catch (error) {
      if (this.isEnded) return;
      console.warn('the panels begin anew, because they could not be removed', error);
      this.discard();
      this.made = this.make();
    }
  }

  /** Ends it for good; does nothing the second time. */
  dispose(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.discard();
  }

  private discard(): void {
    try {
      this.made.dispose();
    } catch (error) {
      console.warn('the panels were removed only in part', error);
    }
    this.sweep();
  }
}

/** Calls functions that end something, the last one first. One that fails stops none of the others. */
export function endAll(ends: readonly (() => void)[]): void {
  const errors: unknown[] = [];
  for (const end of ends.toReversed()) {
    try {
      end();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/** Starts several things in turn and returns a function that ends all. If one cannot start, those before it end. */
export function startAll(starts: readonly (() => () => void)[]): () => void {
  const ends: (() => void)[] = [];
  try {
    for (const start of starts) ends.push(start());
  } catch (error) {
    endAll(ends);
    throw error;
  }
  return () => endAll(ends.splice(0));
}
