import { SERIES_COLORS } from '../../charts/palette.ts';
import type { PoseTrack } from '../../series/pose_track.ts';
import { cursorTime, range } from '../../state/time.ts';
import { poseAt } from './pose_drawing.ts';
import { attitudeWords, positionWords } from './pose_words.ts';
import type { ShownPoses } from './shown_poses.ts';
import { poseStrings as words } from './strings.ts';

/** The pose of each instance at the time under the pointer, or the newest one: the drawing in words. */
export function PoseLegend(props: {
  names: readonly string[];
  units: readonly (readonly (string | undefined)[])[];
  answer: ShownPoses | undefined;
}) {
  const { names, units, answer } = props;
  const time = cursorTime.value ?? (range.value.live ? undefined : range.value.to);
  return (
    <ul class="legend pose-list" data-testid="pose-legend">
      {names.map((name, index) => (
        <li key={`${index} ${name}`} class="pose-entry" data-testid="pose-entry">
          <span class={`legend-mark series-${index % SERIES_COLORS}`} aria-hidden="true" />
          <span class="legend-name">{name}</span>
          <Figures track={answer?.byNumber.get(index)} units={units[index]} time={time} />
        </li>
      ))}
    </ul>
  );
}

function Figures(props: {
  track: PoseTrack | undefined;
  units: readonly (string | undefined)[];
  time: number | undefined;
}) {
  const { track, units, time } = props;
  const at = track ? poseAt(track, time) : -1;
  if (!track || at < 0) return <span class="pose-figures">{words.noPosition}</span>;
  const attitude = attitudeWords(track, at);
  return (
    <>
      <span class="pose-figures">{positionWords(track, at, units)}</span>
      {attitude !== '' && (
        <span class="pose-figures" title={words.anglesTip}>
          {attitude}
        </span>
      )}
    </>
  );
}
