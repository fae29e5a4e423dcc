import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Browser } from 'playwright-core';
import { linesOf, toHtml } from './ansi.ts';
import { escaped, takeWindow } from './window.ts';

/** A terminal window that shows commands with the output that they really had. */

const COLUMNS = 100;
const ROWS = 50;
const INTERRUPT = '\x03';
/** The exit status of a shell whose command was interrupted: 128 and the number of SIGINT. */
const INTERRUPTED = 130;
/** What the commands see of this machine's settings. */
const ENVIRONMENT = { SHELL: '/bin/bash', TERM: 'xterm-256color', LC_ALL: 'C.UTF-8', TZ: 'UTC', HOME: '.' };
const STYLE = `
  main { padding: 12px 18px 16px; }
  pre { margin: 0; font: inherit; white-space: pre-wrap; line-break: anywhere; }
  pre + pre.command { margin-top: 0.9em; }
  .command { color: #fff; }
  .command::before { content: '$ '; color: #35c2a5; }
  .cut { color: #72808e; }
  .bold { font-weight: bold; }
  .red { color: #ff7b72; } .green { color: #56d39b; } .yellow { color: #e3b341; } .blue { color: #79b8ff; }
  .magenta { color: #d2a8ff; } .cyan { color: #56d4dd; } .white { color: #fff; } .black { color: #8b9bab; }
`;

export interface Command {
  /** As a reader types it. */
  readonly run: string;
  /** Show so many lines of the output and say how many more there are. */
  readonly first?: number;
  /** Press Ctrl-C after so many lines, for a command without an end. */
  readonly until?: number;
  /** The expected exit status: 0 by default, or that of an interrupted command. */
  readonly status?: number;
}

export interface Terminal {
  /** The working directory and the home of the commands: paths in their output are relative to it. */
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly title: string;
  readonly columns?: number;
}

/** Runs commands one after another, and takes a picture of the terminal. */
export async function takeTerminal(
  browser: Browser,
  name: string,
  terminal: Terminal,
  commands: readonly Command[],
): Promise<void> {
  const columns = terminal.columns ?? COLUMNS;
  let html = '';
  for (const command of commands) {
    const output = linesOf(await outputOf(command, terminal, columns));
    html += `<pre class="command">${escaped(command.run)}</pre>${shown(output, command.first)}`;
  }
  const style = `${STYLE} pre { width: ${columns}ch; }`;
  await takeWindow(browser, name, { title: terminal.title, style, html });
}

function shown(output: readonly string[], first = output.length): string {
  const lines = output.slice(0, first).map((line) => `<pre>${toHtml(line) || ' '}</pre>`);
  const more = output.length - lines.length;
  return lines.join('') + (more > 0 ? `<pre class="cut">… ${more} more lines</pre>` : '');
}

/** Runs a command in a terminal of its own (`script` of util-linux makes it), so that it writes as for people. */
async function outputOf(command: Command, terminal: Terminal, columns: number): Promise<string> {
  const { run, until, status = until === undefined ? 0 : INTERRUPTED } = command;
  const line = `stty cols ${columns} rows ${ROWS}; ${run}`;
  const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    cwd: terminal.folder,
    env: { ...process.env, ...ENVIRONMENT, ...terminal.environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  let isInterrupted = false;
  child.stdout.on('data', (chunk) => {
    output += chunk;
    if (isInterrupted || until === undefined || linesOf(output).length <= until) return;
    isInterrupted = true;
    child.stdin.write(INTERRUPT);
  });
  const [code] = await once(child, 'close');
  if (code !== status) throw new Error(`status ${code} of ${run}: ${output}`);
  const lines = linesOf(output);
  return until === undefined ? output : [...lines.slice(0, until), '^C'].join('\n');
}
