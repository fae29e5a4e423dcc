/** The next address is asked if the one before has not answered within this time, milliseconds. */
const STAGGER_MS = 250;

/**
 * Returns the first of these addresses that is alive, or undefined. One that is silent delays the others by a moment only.
 * `isAlive` must not fail, and must answer in bounded time.
 */
export function firstAlive(
  addresses: readonly string[],
  isAlive: (address: string) => Promise<boolean>,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    let [next, open] = [0, 0];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = () => {
      clearTimeout(timer);
      if (next >= addresses.length) {
        if (open === 0) resolve(undefined);
        return;
      }
      const address = addresses[next];
      next++;
      open++;
      timer = setTimeout(ask, STAGGER_MS);
      void isAlive(address).then((alive) => {
        open--;
        if (!alive) return ask();
        clearTimeout(timer);
        resolve(address);
      });
    };
    ask();
  });
}
