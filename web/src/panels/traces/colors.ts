/** The property of spans that their colors show. */
export const TRACE_COLORS = ['target', 'node', 'thread'] as const;
export type TraceColor = (typeof TRACE_COLORS)[number];
