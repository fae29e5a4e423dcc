import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { BINARY } from '../harness/oasis.ts';

/** What `oasis pdl lsp` says about one file (Language Server Protocol 3.17). */

const HEADER_END = '\r\n\r\n';

export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Diagnostic {
  readonly range: { readonly start: Position; readonly end: Position };
  readonly code: string;
  readonly message: string;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: { readonly contents: { readonly value: string } };
  readonly params?: { readonly diagnostics: readonly Diagnostic[] };
}

/** Opens a text as an editor does. Returns its errors, and the hover text at a position as Markdown. */
export async function opened(
  text: string,
  position: Position,
): Promise<{ diagnostics: readonly Diagnostic[]; hover: string }> {
  const server = spawn(BINARY, ['pdl', 'lsp'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const uri = 'file:///loop.pdl';
  const textDocument = { uri, languageId: 'pdl', version: 1, text };
  const exit = once(server, 'exit');
  sendMessage(server, {
    id: 1,
    method: 'initialize',
    params: { processId: null, rootUri: null, capabilities: {} },
  });
  sendMessage(server, { method: 'initialized', params: {} });
  sendMessage(server, { method: 'textDocument/didOpen', params: { textDocument } });
  sendMessage(server, { id: 2, method: 'textDocument/hover', params: { textDocument: { uri }, position } });
  let diagnostics: readonly Diagnostic[] | undefined;
  let hover: string | undefined;
  for await (const message of messages(server.stdout)) {
    if (message.method === 'textDocument/publishDiagnostics') diagnostics = message.params?.diagnostics;
    if (message.id === 2) hover = message.result?.contents.value ?? '';
    if (diagnostics && hover !== undefined) break;
  }
  server.kill();
  await exit;
  return { diagnostics: diagnostics ?? [], hover: hover ?? '' };
}

function sendMessage(server: ChildProcessByStdio<Writable, Readable, null>, message: object): void {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}${HEADER_END}${body}`);
}

async function* messages(stream: Readable): AsyncGenerator<Message> {
  let waiting = Buffer.alloc(0);
  for await (const chunk of stream) {
    waiting = Buffer.concat([waiting, chunk]);
    for (;;) {
      const header = waiting.indexOf(HEADER_END);
      if (header < 0) break;
      const start = header + HEADER_END.length;
      const end = start + Number(/Content-Length: (\d+)/.exec(waiting.toString('latin1', 0, header))?.[1]);
      if (waiting.length < end) break;
      yield JSON.parse(waiting.toString('utf8', start, end));
      waiting = waiting.subarray(end);
    }
  }
}
