import type { LineStyle } from '../charts/line.ts';
import type { TimeChart } from '../charts/time_chart.ts';

/** Charts on the screen, by panel: for those who export what can be seen. */
const charts = new Map<string, { readonly chart: TimeChart; readonly lines: readonly LineStyle[] }>();

export function registerChart(id: string, chart: TimeChart, lines: readonly LineStyle[]): () => void {
  const entry = { chart, lines };
  charts.set(id, entry);
  return () => {
    if (charts.get(id) === entry) charts.delete(id);
  };
}

export function chartOf(id: string) {
  return charts.get(id);
}
