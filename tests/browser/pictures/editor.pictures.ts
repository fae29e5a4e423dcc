import { it } from 'vitest';
import { launch } from '../harness/browser.ts';
import { takeEditor } from './editor.ts';

/** The file of the tutorial with two mistakes. */
const LOOP = `module Example {
  /// What a control loop is doing.
  enum Phase { SLEWING, TRACKING };

  /// One turn of a control loop.
  [uuid(5c9ee1f1-8f0c-4f3a-9a4e-4a5d4f6b6c2e); version(1.0)]
  probe ControlLoop {
    /// How late this turn began.
    [unit("us"); kind(gauge); label("Lateness"); warn(> 500); alarm(> 5e3)]
    double lateness;
    /// Turns so far.
    [kind(count)] uint64 turns;
    /// What the loop is doing.
    [kind(state)] Phase phase;
  };
}
`;

it('write-pdl-in-your-editor', async () => {
  const lines = LOOP.split('\n');
  const line = lines.findIndex((text) => text.includes('Phase phase'));
  const character = lines[line].indexOf('Phase phase');
  const browser = await launch();
  await takeEditor(browser, 'write-pdl-in-your-editor', LOOP, { line, character });
  await browser.close();
});
