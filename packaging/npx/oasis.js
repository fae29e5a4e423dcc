#!/usr/bin/env node
'use strict';
// Runs the program of the package for this processor. Node.js cannot become another program: it waits for it, passes
// the signals that it gets, and ends as it ended.

const { spawn } = require('node:child_process');
const { constants } = require('node:os');

const PACKAGES = { 'linux x64': 'oasis-live-linux-x64', 'linux arm64': 'oasis-live-linux-arm64' };
const SIGNALS = ['SIGHUP', 'SIGTERM'];
/** Signals of keys, which a terminal sends to the program as well: a second one would end it at once. */
const KEYS = ['SIGINT', 'SIGQUIT'];
/** Status of a shell for a command that cannot be run. */
const CANNOT_RUN = 126;

/** Returns the path of the program, or undefined. */
function program(platform) {
  try {
    return require.resolve(`${PACKAGES[platform]}/bin/oasis`);
  } catch {
    return undefined;
  }
}

function fail(problem) {
  process.stderr.write(`oasis-live: ${problem}\n`);
  process.exit(CANNOT_RUN);
}

const platform = `${process.platform} ${process.arch}`;
if (!(platform in PACKAGES)) {
  fail(`there is no program for ${platform}, only for ${Object.keys(PACKAGES).join(' and ')}`);
}
const path = program(platform);
if (path === undefined) {
  fail(`the package ${PACKAGES[platform]} is missing: install oasis-live again, with optional dependencies`);
}

const child = spawn(path, process.argv.slice(2), { stdio: 'inherit' });
child.on('error', (error) => fail(`cannot run ${path}: ${error.message}`));
const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
for (const signal of [...SIGNALS, ...KEYS]) {
  const isSent = hasTerminal && KEYS.includes(signal);
  process.on(signal, () => isSent || child.kill(signal));
}
child.on('exit', (status, signal) => process.exit(signal === null ? status : 128 + constants.signals[signal]));
