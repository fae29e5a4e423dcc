// The log manager: a log line costs a write, so that a measurement has none.

let isLogging = false;

export function setLogging(isEnabled) {
  isLogging = isEnabled;
}

export function log(...words) {
  if (isLogging) console.error(...words);
}
