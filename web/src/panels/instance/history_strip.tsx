import { formatInteger } from '../../format/number.ts';
import { formatClock } from '../../format/time.ts';
import type { InstanceCells } from '../../state/store.ts';
import { range } from '../../state/time.ts';
import { HISTORY_SECONDS, type HistoryView } from '../../stream/history.ts';
import { strings } from '../../strings/strings.ts';

const STEP = 4;
const BAR = 3;
const HEIGHT = 28;

/** The last minute, one bar for each second: samples, gaps and interruptions. */
export function HistoryStrip({ cells }: { cells: InstanceCells }) {
  const history = cells.flow.value?.history;
  return (
    // The last minute of now is not that of a paused page; its place stays.
    <figure class={range.value.live ? 'strip' : 'strip is-past'}>
      <figcaption>{strings.card.historySpan}</figcaption>
      {history && <Bars history={history} />}
    </figure>
  );
}

function Bars({ history }: { history: HistoryView }) {
  const { samples, missing, marks, last } = history;
  const most = samples.reduce((max, count, index) => Math.max(max, count + missing[index]), 1);
  return (
    <svg
      class="strip-bars"
      viewBox={`0 0 ${HISTORY_SECONDS * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={strings.card.history}
      data-testid="history"
    >
      <title>{strings.card.history}</title>
      {samples.map((count, index) => {
        const second = last - HISTORY_SECONDS + 1 + index;
        const came = (count / most) * HEIGHT;
        const lost = (missing[index] / most) * HEIGHT;
        const mark = marks[index];
        if (count === 0 && mark === undefined) return null;
        const time = formatClock(second * 1000);
        return (
          <g key={second}>
            {mark && <rect class={`mark mark-${mark}`} x={index * STEP} y={0} width={BAR} height={HEIGHT} />}
            <rect class="bar" x={index * STEP} y={HEIGHT - came} width={BAR} height={came} />
            {lost > 0 && (
              <rect class="bar-lost" x={index * STEP} y={HEIGHT - came - lost} width={BAR} height={lost} />
            )}
            <title>
              {strings.card.historyBar(time, formatInteger(count), formatInteger(missing[index]))}
            </title>
          </g>
        );
      })}
    </svg>
  );
}
