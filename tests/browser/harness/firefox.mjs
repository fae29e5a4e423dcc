#!/usr/bin/env node
// Firefox for Playwright, which expects a newer WebDriver BiDi than stable versions of Firefox have. This program starts
// Firefox and passes on what both say, but for two things: the refusal of a command becomes a success, and a download
// that has no name gets its address as one.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { WebSocket, WebSocketServer } from 'ws';

/** Commands whose absence changes no test: the page then has the colors that the system has. */
const OPTIONAL = ['emulation.setMediaFeaturesOverride'];
const READY = /^(WebDriver BiDi listening on )(ws:\/\/\S+)$/;
const PLACES = ['/usr/bin/firefox-esr', '/usr/bin/firefox'];

const program = process.env.FIREFOX ?? PLACES.find((place) => existsSync(place));
if (!program) {
  console.error(`no Firefox at ${PLACES.join(' or ')}: install it (make browser), or name it (FIREFOX=path)`);
  process.exit(1);
}

const firefox = spawn(program, process.argv.slice(2), { stdio: ['ignore', 'inherit', 'pipe'] });
firefox.on('exit', (code) => process.exit(code ?? 1));
process.on('SIGTERM', () => firefox.kill('SIGTERM'));
createInterface(firefox.stderr).on('line', (line) => {
  const ready = line.match(READY);
  if (!ready) console.error(line);
  else relay(ready[2], (address) => console.error(ready[1] + address));
});

/** Serves WebSockets that go on to `target`, at any port. */
function relay(target, listening) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('listening', () => listening(`ws://127.0.0.1:${server.address().port}`));
  server.on('connection', (client, { url }) => {
    const browser = new WebSocket(target + url);
    const opened = new Promise((resolve) => browser.on('open', resolve));
    const optional = new Set();
    client.on('message', (data) => {
      const { id, method } = JSON.parse(data);
      if (OPTIONAL.includes(method)) optional.add(id);
      opened.then(() => browser.send(String(data)));
    });
    browser.on('message', (data) => client.send(answer(String(data), optional)));
    client.on('close', () => browser.close());
    for (const end of ['close', 'error']) browser.on(end, () => client.close());
  });
}

function answer(text, optional) {
  // Most messages are events, and some are large.
  if (text.includes('"browsingContext.download')) return named(text);
  if (optional.size === 0) return text;
  const { id, error } = JSON.parse(text);
  const isRefused = optional.delete(id) && error === 'unknown command';
  return isRefused ? JSON.stringify({ type: 'success', id, result: {} }) : text;
}

function named(text) {
  const event = JSON.parse(text);
  if (event.method?.startsWith('browsingContext.download')) event.params.download ??= event.params.url;
  return JSON.stringify(event);
}
