import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

// Runs before each file of a worker: what the DACs of a file store is neither the developer's nor that of the file before.
const folder = mkdtempSync(join(tmpdir(), 'oasis-browser-'));
process.env.OASIS_TEST_STATE = folder;
afterAll(() => rmSync(folder, { recursive: true, force: true }));
