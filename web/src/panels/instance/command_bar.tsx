import type { Signal } from '@preact/signals';
import { useFreshResult } from '../../components/use_fresh_result.ts';
import { formatRough } from '../../format/number.ts';
import { formatClock } from '../../format/time.ts';
import { can } from '../../state/abilities.ts';
import { command } from '../../state/actions.ts';
import { nameOf } from '../../state/names.ts';
import type { InstanceCells } from '../../state/store.ts';
import type { CommandRequest, RecorderEntry } from '../../stream/protocol.ts';
import { strings } from '../../strings/strings.ts';
import type { Target } from '../../wire/target.ts';
import { HertzForm } from './hertz_form.tsx';

const words = strings.commands;

/** The most used commands of an instance, and the result of the last one. `problem` says why a command was not sent. */
export function CommandBar(props: { target: Target; cells: InstanceCells; problem: Signal<string> }) {
  const { target, cells, problem } = props;
  const entry = cells.entry.value;
  const isEnabled = entry?.enabled ?? true;
  const isCalled = !entry || can(entry, 'hertz');
  const isOffline = entry !== undefined && entry.state !== 'online';
  const give = (request: CommandRequest) => {
    problem.value = '';
    command(target, request);
  };
  if (entry?.replay) return null;
  return (
    <section class="commands" aria-label={`${words.title}: ${nameOf(target)}`}>
      <fieldset class="commands-controls" disabled={isOffline} title={isOffline ? words.offline : undefined}>
        {isCalled && (
          <HertzForm
            hertz={entry?.hertz ?? undefined}
            onHertz={(hertz) => give({ command: 'hertz', hertz })}
            onProblem={(text) => {
              problem.value = text;
            }}
          />
        )}
        <div class="commands-buttons">
          <button
            type="button"
            class="button"
            data-testid={isEnabled ? 'disable' : 'enable'}
            onClick={() => give({ command: isEnabled ? 'disable' : 'enable' })}
          >
            {isEnabled ? words.disable : words.enable}
          </button>
          {isCalled && (
            <button
              type="button"
              class="button"
              data-testid="sample-now"
              onClick={() => give({ command: 'sample-now' })}
            >
              {words.sampleNow}
            </button>
          )}
          {entry?.recorder && (
            <TriggerButton recorder={entry.recorder} onTrigger={() => give({ command: 'trigger' })} />
          )}
        </div>
      </fieldset>
      <CommandStatus cells={cells} problem={problem.value} />
    </section>
  );
}

function TriggerButton({ recorder, onTrigger }: { recorder: RecorderEntry; onTrigger: () => void }) {
  const seconds = (value: number) => `${formatRough(value)} s`;
  return (
    <button
      type="button"
      class="button"
      title={words.triggerTip(seconds(recorder.before_s), seconds(recorder.after_s))}
      data-testid="trigger"
      onClick={onTrigger}
    >
      {words.trigger}
    </button>
  );
}

/** Separate from the bar: the time that passes draws only this. */
function CommandStatus({ cells, problem }: { cells: InstanceCells; problem: string }) {
  const view = useFreshResult(cells);
  const [tone, text] =
    problem !== '' ? ['failed', problem] : view ? [view.status, words.sentence(view)] : ['idle', words.idle];
  return (
    <p
      class={`command-status is-${tone}`}
      role="status"
      title={text}
      data-testid="command-status"
      data-status={tone}
    >
      {text}
      {problem === '' && view && view.status !== 'pending' && (
        <time class="command-time"> {formatClock(view.since)}</time>
      )}
    </p>
  );
}
