/** Seconds between two runs of a query; 0 is by hand. */
export const SQL_PERIODS: readonly number[] = [0, 5, 15, 60, 300];
/** Most characters of a query in a layout. */
export const MAX_SQL = 10_000;
