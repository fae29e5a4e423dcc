// What both servers share: records from the standard input, a line each, and an HTTP server at a free port, whose address is printed.

import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

/**
 * Starts the server, and gives each record to `put`: its instance, its time in nanoseconds, and its text. A line without a time names a new instance, for
 * `announce`. Ends with the input.
 */
export function serve(http, put, announce = () => {}) {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (text) => {
    const { instance, time } = JSON.parse(text);
    if (time === undefined) announce(instance);
    else put(instance, time, text);
  });
  lines.on('close', () => process.exit());
  http.listen(0, process.argv[2], () => {
    const { address, port } = http.address();
    console.log(`${address}:${port}`);
  });
}

export { createServer };
