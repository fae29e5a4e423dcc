/**
 * Reads at once or after a pause, then repeatedly while the page is visible, one read at a time. Returns a function that ends this
 * and cancels a running read. Times are milliseconds.
 */
export function reread(read: (signal: AbortSignal) => Promise<void>, every: number, pause = 0): () => void {
  const end = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const turn = async () => {
    if (!document.hidden) await read(end.signal);
    if (!end.signal.aborted) timer = setTimeout(turn, every);
  };
  if (pause > 0) timer = setTimeout(turn, pause);
  else void turn();
  return () => {
    end.abort();
    clearTimeout(timer);
  };
}
