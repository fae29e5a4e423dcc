import { useSignal } from '@preact/signals';
import { formatHertz } from '../format/name.ts';
import { formatRough } from '../format/number.ts';
import { command } from '../state/actions.ts';
import type { InstanceCells } from '../state/store.ts';
import { isRate, type RecorderEntry, type Wish } from '../stream/protocol.ts';
import type { CommandView, Target } from '../stream/view.ts';
import { strings } from '../strings.ts';
import { DeadbandForm } from './deadband_form.tsx';
import { DemandForm } from './demand_form.tsx';
import { useUniqueId } from './use_unique_id.ts';

const words = strings.commands;
const PRESETS = [1, 10, 100];

/** What can be asked of the instance, and how the last wish ended. */
export function CommandBar({ target, cells }: { target: Target; cells: InstanceCells }) {
  const problem = useSignal('');
  const entry = cells.entry.value;
  const isEnabled = entry?.enabled ?? true;
  // The application decides when to flush a pushed probe.
  const isCalled = entry?.hertz !== null;
  const give = (wish: Wish) => {
    problem.value = '';
    command(target, wish);
  };
  const tell = (text: string) => {
    problem.value = text;
  };
  return (
    <section class="commands" aria-label={words.title}>
      <div class="commands-row">
        {isCalled && (
          <HertzForm
            hertz={entry?.hertz}
            onHertz={(hertz) => give({ command: 'hertz', hertz })}
            onProblem={tell}
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
      </div>
      {entry?.kind === 'periodic' && (
        <DemandForm
          demand={entry.demand}
          declared={cells.status.value?.schema?.rate?.demand}
          onWish={give}
          onProblem={tell}
        />
      )}
      {cells.entry.value?.kind === 'on-change' && (
        <DeadbandForm metrics={cells.status.value?.schema?.metrics ?? []} onWish={give} onProblem={tell} />
      )}
      <CommandStatus view={cells.command.value} problem={problem.value} />
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

function HertzForm(props: {
  hertz: number | undefined;
  onHertz: (hertz: number) => void;
  onProblem: (text: string) => void;
}) {
  const field = useUniqueId();
  // What was typed; nothing typed shows what is configured.
  const typed = useSignal<string | undefined>(undefined);
  const submit = (event: Event) => {
    event.preventDefault();
    const hertz = Number(typed.value ?? props.hertz ?? Number.NaN);
    if (!isRate(hertz)) return props.onProblem(words.outOfRange);
    typed.value = undefined;
    props.onHertz(hertz);
  };
  return (
    <form class="hertz-form" noValidate onSubmit={submit}>
      <div class="presets">
        {PRESETS.map((preset) => (
          <button
            key={preset}
            type="button"
            class={preset === props.hertz ? 'button preset is-current' : 'button preset'}
            aria-label={words.preset(formatHertz(preset))}
            aria-pressed={preset === props.hertz}
            data-testid={`hertz-preset-${preset}`}
            onClick={() => {
              typed.value = undefined;
              props.onHertz(preset);
            }}
          >
            {preset}
          </button>
        ))}
      </div>
      <label class="visually-hidden" for={field}>
        {words.hertz}
      </label>
      <input
        id={field}
        class="input hertz-input"
        type="text"
        inputMode="decimal"
        autoComplete="off"
        data-testid="hertz-input"
        value={typed.value ?? (props.hertz === undefined ? '' : formatHertz(props.hertz))}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
        }}
      />
      <span class="hertz-unit" aria-hidden="true">
        {words.hertzUnit}
      </span>
      <button type="submit" class="button button-main" data-testid="hertz-set">
        {words.set}
      </button>
    </form>
  );
}

function CommandStatus({ view, problem }: { view: CommandView | undefined; problem: string }) {
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
    </p>
  );
}
