import { type Fields, isFields } from './fields.ts';

/** The CSRF token of the session; page and worker each have their own, and one that is not valid any more is renewed. */
let token = '';

/** Uses the token of a sign-in. */
export function useToken(fresh: string): void {
  token = fresh;
}

/** Sends a request to the DAC, with the token that changes in a session need. */
export async function fetchWithToken(url: URL, request: RequestInit): Promise<Response> {
  const answer = await fetch(url, withToken(request));
  if (answer.status !== 403 || !(await isAboutToken(answer.clone()))) return answer;
  const renewed = await fetch(
    new URL(`${url.pathname.replace(/api\/v1\/.*$/, 'api/v1/session/csrf')}`, url),
    {
      method: 'POST',
      cache: 'no-store',
      signal: request.signal ?? null,
    },
  );
  if (!renewed.ok) return answer;
  const { csrf_token: fresh } = fieldsOf(await renewed.json());
  if (typeof fresh === 'string') token = fresh;
  return fetch(url, withToken(request));
}

function withToken(request: RequestInit): RequestInit {
  if (token === '' || request.method === 'GET') return request;
  const headers = new Headers(request.headers);
  headers.set('x-csrf-token', token);
  return { ...request, headers };
}

async function isAboutToken(answer: Response): Promise<boolean> {
  try {
    return fieldsOf(await answer.json()).type === '/problems/csrf';
  } catch {
    return false;
  }
}

function fieldsOf(json: unknown): Fields {
  return isFields(json) ? json : {};
}
