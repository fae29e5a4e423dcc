/** A server that is silent for this time is taken for gone, milliseconds. */
const PATIENCE_MS = 1000;
/** What a DAC that works says (docs/reference/health.md); anything else may be another server at its address. */
const ALIVE = 'oasis';

/** Returns whether a DAC works at this address. It sends no credentials, and says nothing of the page. */
export async function isAlive(address: string): Promise<boolean> {
  try {
    const answer = await fetch(new URL('alive', address), {
      mode: 'cors',
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return answer.ok && (await answer.text()) === ALIVE;
  } catch {
    return false;
  }
}
