import { signal } from '@preact/signals';
import { fetchJson } from '../api/api.ts';

/** Users, tokens and roles of the DAC, for administrators. */

export interface User {
  readonly name: string;
  readonly roles: readonly string[];
  /** False for `local` and `stranger`: those who have not signed in. */
  readonly is_account: boolean;
  readonly has_password: boolean;
  readonly subject?: string;
  readonly sessions: number;
}

export interface Token {
  readonly id: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly owner?: string;
  readonly embed: boolean;
  readonly scope: readonly string[];
  readonly expires?: string;
  readonly last_use?: string;
}

export interface Role {
  readonly name: string;
  readonly built_in: boolean;
  readonly rules: readonly string[];
}

export interface Verb {
  readonly verb: string;
  readonly permits: string;
}

/** What somebody with some rules would see. */
export interface Preview {
  readonly sees: number;
  readonly total: number;
  readonly instances: readonly string[];
  readonly verbs: readonly string[];
}

export interface NewToken {
  readonly name: string;
  readonly roles: readonly string[];
  readonly owner?: string | undefined;
  readonly embed: boolean;
  readonly scope: readonly string[];
  readonly expires?: string | undefined;
}

export const users = signal<readonly User[]>([]);
export const tokens = signal<readonly Token[]>([]);
export const roles = signal<readonly Role[]>([]);
export const verbs = signal<readonly Verb[]>([]);

/** Reads all of them. */
export async function readAccounts(): Promise<void> {
  const [ofUsers, ofTokens, ofRoles] = await Promise.all([
    fetchJson('GET', 'users') as Promise<{ users: User[] }>,
    fetchJson('GET', 'tokens') as Promise<{ tokens: Token[] }>,
    fetchJson('GET', 'roles') as Promise<{ roles: Role[]; verbs: Verb[] }>,
  ]);
  users.value = ofUsers.users;
  tokens.value = ofTokens.tokens;
  roles.value = ofRoles.roles;
  verbs.value = ofRoles.verbs;
}

/** Changes something, and reads what has become of it. */
async function change(method: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetchJson(method, path, body ? { body } : {});
  await readAccounts();
  return answer;
}

export async function addUser(name: string, password: string, roles: readonly string[]): Promise<void> {
  await change('POST', 'users', { name, roles, ...(password === '' ? {} : { password }) });
}

export async function setRoles(name: string, roles: readonly string[]): Promise<void> {
  await change('PATCH', pathOf('users', name), { roles });
}

export async function setPassword(name: string, password: string): Promise<void> {
  await change('PATCH', pathOf('users', name), { password });
}

export async function removeUser(name: string): Promise<void> {
  await change('DELETE', pathOf('users', name));
}

export async function endSessions(name: string): Promise<void> {
  await change('DELETE', `${pathOf('users', name)}/sessions`);
}

/** Returns the token, which nobody can see again. */
export async function createToken(token: NewToken): Promise<string> {
  const answer = (await change('POST', 'tokens', token)) as { token: string };
  return answer.token;
}

export async function revokeToken(id: string): Promise<void> {
  await change('DELETE', pathOf('tokens', id));
}

export async function setRole(name: string, rules: readonly string[]): Promise<void> {
  await change('PUT', pathOf('roles', name), { rules });
}

export async function removeRole(name: string): Promise<void> {
  await change('DELETE', pathOf('roles', name));
}

export async function previewRole(rules: readonly string[]): Promise<Preview> {
  return (await fetchJson('POST', 'roles/preview', { body: { rules } })) as Preview;
}

/** Gives the person who uses the page another password; the page must sign in again. */
export async function changeOwnPassword(present: string, fresh: string): Promise<void> {
  await fetchJson('PUT', 'session/password', { body: { present, new: fresh } });
  location.reload();
}

function pathOf(kind: string, name: string): string {
  return `${kind}/${encodeURIComponent(name)}`;
}
