import { useSignal } from '@preact/signals';
import { DeadbandForm } from '../components/deadband_form.tsx';
import { DemandForm } from '../components/demand_form.tsx';
import { SureButton } from '../components/sure_button.tsx';
import { Toggle } from '../components/toggle.tsx';
import { can } from '../state/abilities.ts';
import { command } from '../state/actions.ts';
import { cellsOf } from '../state/store.ts';
import { type CommandRequest, isRate } from '../stream/protocol.ts';
import { strings } from '../strings/strings.ts';
import type { Target } from '../wire/target.ts';

const words = strings.control;

/** Commands for the chosen instances; each command goes to those that support it. */
export function ControlForms({ chosen }: { chosen: readonly Target[] }) {
  const problem = useSignal('');
  const isKept = useSignal(false);
  const able = (wanted: CommandRequest['command']) =>
    chosen.filter((target) => {
      const entry = cellsOf(target).entry.value;
      return entry !== undefined && can(entry, wanted);
    });
  const give = (request: CommandRequest, to: readonly Target[] = able(request.command)) => {
    problem.value = '';
    const kept = isKept.value && isSetting(request) ? { ...request, keep: true } : request;
    for (const target of to) command(target, kept);
  };
  const tell = (text: string) => {
    problem.value = text;
  };
  const following = able('demand-off').length;
  const changed = able('reset').length;
  const schemas = able('deadband').flatMap((target) => cellsOf(target).status.value?.schema ?? []);
  const metrics = new Map(schemas.flatMap((schema) => schema.metrics.map((metric) => [metric.name, metric])));
  /** A deadband belongs to a metric: instances without a metric of that name are skipped. */
  const having = (name: string) =>
    able('deadband').filter((target) =>
      cellsOf(target).status.value?.schema?.metrics.some((metric) => metric.name === name),
    );
  return (
    <div class="control-forms">
      <div class="control-row">
        <Toggle
          label={strings.commands.kept.keepAll}
          isOn={isKept.value}
          testId="control-keep"
          onChange={(isOn) => {
            isKept.value = isOn;
          }}
        />
        <button
          type="button"
          class="button"
          disabled={changed === 0}
          title={strings.commands.kept.resetAllTip}
          data-testid="control-reset"
          onClick={() => give({ command: 'reset' })}
        >
          {words.counted(strings.commands.kept.reset, changed)}
        </button>
      </div>
      <RateForm count={able('hertz').length} onRequest={give} onProblem={tell} />
      {able('demand').length > 0 && (
        <div class="control-row" data-testid="control-demand">
          <DemandForm demand={null} declared={undefined} onRequest={give} onProblem={tell} />
          {following > 0 && (
            <button
              type="button"
              class="button"
              data-testid="control-demand-off"
              onClick={() => give({ command: 'demand-off' })}
            >
              {words.counted(strings.commands.demandOff, following)}
            </button>
          )}
        </div>
      )}
      {metrics.size > 0 && (
        <div class="control-row" data-testid="control-deadband">
          <DeadbandForm
            metrics={[...metrics.values()]}
            onRequest={(request) => give(request, 'metric' in request ? having(request.metric) : [])}
            onProblem={tell}
          />
        </div>
      )}
      <div class="control-row">
        {(['enable', 'disable', 'sample-now', 'trigger'] as const).map((name) => {
          const count = able(name).length;
          // One click must not silence several instances.
          if (name === 'disable' && count > 1) {
            return (
              <SureButton
                key={name}
                label={words.counted(words.names[name], count)}
                sure={words.sureToDisable(count)}
                testId={`control-${name}`}
                isQuiet={false}
                onSure={() => give({ command: name })}
              />
            );
          }
          return (
            <button
              key={name}
              type="button"
              class="button"
              disabled={count === 0}
              data-testid={`control-${name}`}
              onClick={() => give({ command: name })}
            >
              {words.counted(words.names[name], count)}
            </button>
          );
        })}
      </div>
      <p class="form-problem" role="status" data-testid="control-problem">
        {problem.value}
      </p>
    </div>
  );
}

/** Whether a command sets something that can be kept. */
function isSetting({ command: name }: CommandRequest): boolean {
  return name !== 'sample-now' && name !== 'trigger' && name !== 'reset';
}

function RateForm(props: {
  count: number;
  onRequest: (request: CommandRequest) => void;
  onProblem: (text: string) => void;
}) {
  const hertz = useSignal('');
  const isWrong = useSignal(false);
  return (
    <form
      class="control-row"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = Number(hertz.value);
        isWrong.value = hertz.value === '' || !isRate(wanted);
        if (isWrong.value) props.onProblem(strings.commands.outOfRange);
        else props.onRequest({ command: 'hertz', hertz: wanted });
      }}
    >
      <input
        class="input"
        type="text"
        inputMode="decimal"
        placeholder={words.rate}
        aria-label={words.rate}
        aria-invalid={isWrong.value}
        data-testid="control-hertz"
        value={hertz.value}
        onInput={(event) => {
          hertz.value = event.currentTarget.value;
        }}
      />
      <button type="submit" class="button button-main" disabled={props.count === 0} data-testid="control-set">
        {words.set(props.count)}
      </button>
    </form>
  );
}
