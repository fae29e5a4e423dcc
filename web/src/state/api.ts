/** Asks the DAC by HTTP. Throws an error whose message is for people. */
export async function ask(
  method: string,
  path: string,
  body?: object,
  signal?: AbortSignal,
): Promise<Response> {
  const answer = await fetch(new URL(`api/v1/${path}`, document.baseURI), {
    method,
    body: body && JSON.stringify(body),
    cache: 'no-store',
    signal,
  });
  if (answer.ok) return answer;
  const problem = (await answer.json().catch(() => undefined)) as { detail?: unknown } | undefined;
  throw new Error(typeof problem?.detail === 'string' ? problem.detail : `HTTP ${answer.status}`);
}
