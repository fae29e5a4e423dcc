/**
 * Reads at once or after a pause, and again and again while the page can be seen, one time after another. Returns what ends that,
 * and gives up what is under way. Times are milliseconds.
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
