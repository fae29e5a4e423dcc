import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Dialog } from '../components/dialog.tsx';
import { TargetText } from '../components/name_text.tsx';
import { Toggle } from '../components/toggle.tsx';
import { useFreshResult } from '../components/use_fresh_result.ts';
import { formatClock } from '../format/time.ts';
import { isDemandListed, type JournalEntry, listedCommands, readJournal } from '../state/journal.ts';
import { shownTargets } from '../state/panels.ts';
import { cellsOf } from '../state/store.ts';
import { strings } from '../strings/strings.ts';
import { keyOf, type Target } from '../wire/target.ts';
import { ControlForms } from './control_forms.tsx';

const words = strings.control;
const REREAD_MS = 1000;

/** Commands for several instances, their results, and the command journal. */
export function ControlDialog() {
  const targets = shownTargets.value;
  const left = useSignal<ReadonlySet<string>>(new Set());
  const chosen = targets.filter((target) => !left.value.has(keyOf(target)));
  useEffect(() => {
    void readJournal();
    const timer = setInterval(() => void readJournal(), REREAD_MS);
    return () => clearInterval(timer);
  }, []);
  const toggle = (key: string) => {
    const next = new Set(left.value);
    if (!next.delete(key)) next.add(key);
    left.value = next;
  };
  return (
    <Dialog title={words.title} testId="control">
      <ul class="control-targets">
        {targets.length === 0 && <li class="hint">{words.nothing}</li>}
        {targets.map((target) => (
          <Line
            key={keyOf(target)}
            target={target}
            isChosen={!left.value.has(keyOf(target))}
            onToggle={() => toggle(keyOf(target))}
          />
        ))}
      </ul>
      <ControlForms chosen={chosen} />
      <h3 class="control-journal-title" title={words.journalTip}>
        {words.journal}
      </h3>
      <Toggle
        label={words.withDemand}
        isOn={isDemandListed.value}
        testId="journal-demand"
        onChange={(isOn) => {
          isDemandListed.value = isOn;
        }}
      />
      {listedCommands.value.length === 0 && <p class="hint">{words.journalEmpty}</p>}
      <ol class="control-journal" data-testid="journal">
        {listedCommands.value.map((entry, index) => (
          <Past key={`${listedCommands.value.length - index}`} entry={entry} />
        ))}
      </ol>
    </Dialog>
  );
}

function Line(props: { target: Target; isChosen: boolean; onToggle: () => void }) {
  const { target, isChosen } = props;
  const view = useFreshResult(cellsOf(target));
  const text = view ? strings.commands.sentence(view) : '';
  return (
    <li class="control-target" data-testid="control-target">
      <label class="add-metric">
        <input type="checkbox" checked={isChosen} onChange={props.onToggle} />
        <TargetText target={target} />
      </label>
      <span
        class={`command-status is-${view?.status ?? 'idle'}`}
        data-testid="control-status"
        data-instance={target.instance}
        data-status={view?.status}
        title={text}
      >
        {text}
        {view && view.status !== 'pending' && <time class="command-time"> {formatClock(view.since)}</time>}
      </span>
    </li>
  );
}

function Past({ entry }: { entry: JournalEntry }) {
  return (
    <li data-testid="journal-line">
      <time>{formatClock(entry.time)}</time> <span class="journal-who">{entry.who}</span> {entry.what}{' '}
      <span class={entry.isDone ? '' : 'is-bad'}>{entry.outcome}</span>
    </li>
  );
}
