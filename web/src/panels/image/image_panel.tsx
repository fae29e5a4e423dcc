import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { GapSummary } from '../../components/gap_summary.tsx';
import { wordsOf } from '../../components/gap_words.ts';
import { useView } from '../../components/use_view.ts';
import { formatInteger } from '../../format/number.ts';
import { formatAge, formatInstant } from '../../format/time.ts';
import { formatBytes } from '../../format/unit.ts';
import { nameOf } from '../../state/names.ts';
import { now } from '../../state/now.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { range } from '../../state/time.ts';
import type { AnswerOf } from '../../stream/query.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';
import { imageStrings as words } from './strings.ts';
import { type DrawnState, useImage } from './use_image.ts';
import './image.css';

type FrameAnswer = AnswerOf<'frame'>;

/** The newest image of a metric, or the last one of the time shown. */
export function ImagePanel({ spec }: { spec: SpecOf<'image'> }) {
  const found = useSignal<FrameAnswer | undefined>(undefined);
  const canvas = useRef<HTMLCanvasElement>(null);
  const state = useSignal<DrawnState>(undefined);
  const drawn = useImage(canvas, state);
  useView(
    () => ({ kind: 'frame', range: range.value, target: spec.target, metric: spec.metric }),
    ({ answer }) => {
      if (answer.kind !== 'frame') return;
      found.value = answer;
      drawn.show(answer.frame);
    },
  );
  const frame = found.value?.frame;
  const sequence = frame === undefined ? '' : formatInteger(frame.sequence);
  const problem = frame !== undefined && typeof state.value === 'string' ? state.value : undefined;
  return (
    <section class="panel image-panel" data-testid="image" data-panel={spec.id}>
      <div class="image-stage">
        <canvas
          ref={canvas}
          class="image-canvas"
          role="img"
          aria-label={
            frame ? words.alt(nameOf(spec.target), spec.metric, sequence, ageOf(frame)) : words.none
          }
          hidden={frame === undefined || problem !== undefined}
          data-testid="image-canvas"
          data-sequence={frame?.sequence}
        />
        {frame === undefined && <p class="panel-empty">{absenceOf(found.value)}</p>}
        {problem !== undefined && (
          <p class="panel-empty image-problem" role="status" data-testid="image-problem">
            {words.undecoded(sequence, problem)}
          </p>
        )}
      </div>
      {found.value && frame && <Facts found={found.value} frame={frame} state={state.value} />}
      <GapSummary gaps={found.value?.gaps ?? []} />
      <PanelFooter spec={spec} />
    </section>
  );
}

function Facts(props: { found: FrameAnswer; frame: NonNullable<FrameAnswer['frame']>; state: DrawnState }) {
  const { found, frame, state } = props;
  const { kept, gap } = found;
  const pixels = typeof state === 'object' ? words.pixels(String(state.width), String(state.height)) : '';
  return (
    <>
      {gap && !gap.isLasting && (
        <p class="hint" role="status" data-testid="image-gap">
          {wordsOf(gap)}
        </p>
      )}
      <dl class="facts-row">
        <div>
          <dt>{words.sample}</dt>
          <dd data-testid="image-sequence">{formatInteger(frame.sequence)}</dd>
        </div>
        <div>
          <dt>{words.age}</dt>
          <dd title={formatInstant(frame.time)} data-testid="image-age">
            {ageOf(frame)}
          </dd>
        </div>
        <div>
          <dt>{words.size}</dt>
          <dd>{`${pixels} ${formatBytes(frame.bytes)}`.trim()}</dd>
        </div>
        {kept && (
          <div title={words.keptTip}>
            <dt>{words.kept}</dt>
            <dd data-testid="image-kept">
              {words.keptFrames(formatInteger(kept.frames), formatBytes(kept.bytes))}
              {kept.evicted > 0 && `, ${words.evicted(formatInteger(kept.evicted))}`}
            </dd>
          </div>
        )}
      </dl>
    </>
  );
}

/** Age of an image now, or at the end of the time shown. */
function ageOf({ time }: { readonly time: number }): string {
  const end = range.value.live ? now.value : range.value.to;
  return formatAge(Math.max(0, end - time));
}

function absenceOf(found: FrameAnswer | undefined): string {
  if (!found || found.state === 'reading') return words.reading;
  return found.state === 'failed' ? words.failed : words.none;
}
