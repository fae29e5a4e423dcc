import '../../styles/kept.css';
import { formatRoughAge } from '../../format/time.ts';
import { command } from '../../state/actions.ts';
import { authorOf, formatSetting, keeping, nameOfSetting } from '../../state/kept.ts';
import { editLabels } from '../../state/labels.ts';
import { now } from '../../state/now.ts';
import type { InstanceCells } from '../../state/store.ts';
import { strings } from '../../strings/strings.ts';
import { visible } from '../../text/visible.ts';
import type { SettingEntry } from '../../wire/settings.ts';
import type { Target } from '../../wire/target.ts';

const words = strings.commands.kept;

/** What is kept of an instance, or differs from its program, each value with its source; and the way to its labels. */
export function KeptSettings({ target, cells }: { target: Target; cells: InstanceCells }) {
  const entry = cells.entry.value;
  if (!entry || entry.replay) return null;
  const isOffline = entry.state !== 'online';
  return (
    <div class="kept" data-testid="kept">
      {entry.settings.length > 0 && (
        <ul class="kept-list">
          {entry.settings.map((state) => (
            <Line key={state.setting} target={target} state={state} isOffline={isOffline} />
          ))}
        </ul>
      )}
      <button
        type="button"
        class="button button-quiet kept-labels"
        data-testid="labels-open"
        onClick={() => editLabels(target)}
      >
        {words.labels}
      </button>
    </div>
  );
}

function Line(props: { target: Target; state: SettingEntry; isOffline: boolean }) {
  const { target, state, isOffline } = props;
  const { setting, kept } = state;
  const request = keeping(state);
  const isHere = kept?.state === 'applied';
  return (
    <li class="kept-line" data-testid="kept-line" data-setting={setting} data-state={kept?.state ?? 'run'}>
      <span class="kept-text">
        <strong>{visible(nameOfSetting(setting))}</strong> {formatSetting(state.value ?? kept?.value)}{' '}
        <Source state={state} />
      </span>
      <span class="kept-buttons">
        {!isHere && request && (
          <button
            type="button"
            class="button"
            disabled={isOffline}
            title={words.keepTip}
            data-testid="keep"
            onClick={() => command(target, request)}
          >
            {words.keep}
          </button>
        )}
        <button
          type="button"
          class="button button-quiet"
          title={words.resetTip(formatSetting(state.program))}
          data-testid="reset"
          onClick={() => command(target, { command: 'reset', setting })}
        >
          {words.reset}
        </button>
      </span>
    </li>
  );
}

/** Where a value comes from, and what becomes of it. */
function Source({ state: { program, kept } }: { state: SettingEntry }) {
  const declared = program && words.program(formatSetting(program));
  if (!kept) return <small>{[words.thisRun, declared].filter(Boolean).join(' \u00b7 ')}</small>;
  const ago = formatRoughAge(Math.max(0, now.value - kept.at));
  const by = words.by(visible(authorOf(kept.by)), ago);
  const what =
    kept.state === 'applied'
      ? by
      : kept.state === 'refused'
        ? words.refused(formatSetting(kept.value), by, visible(kept.problem ?? ''))
        : kept.state === 'replaced'
          ? words.replaced(formatSetting(kept.value), by)
          : words.waiting(formatSetting(kept.value), by);
  return (
    <small class={kept.state === 'refused' ? 'is-bad' : ''}>
      {[what, declared].filter(Boolean).join(' \u00b7 ')}
    </small>
  );
}
