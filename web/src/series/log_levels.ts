/** Least severities of log records that charts mark, by the numbers of `OASIS::Program::LogLevel`. */
export const MARKER_LEVELS = { off: Number.POSITIVE_INFINITY, error: 17, warn: 13, info: 9 } as const;
export type MarkerLevel = keyof typeof MARKER_LEVELS;
