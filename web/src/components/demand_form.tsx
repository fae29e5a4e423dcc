import type { DemandRange } from '@oasis/wire';
import { useSignal } from '@preact/signals';
import { formatHertz } from '../format/name.ts';
import { type CommandRequest, type DemandEntry, isRate } from '../stream/protocol.ts';
import { strings } from '../strings/strings.ts';
import { useUniqueId } from './use_unique_id.ts';

const words = strings.commands;
const DEFAULT: DemandRange = { min: 1, max: 100 };

/** Lets the rate follow the demand of readers, or stops it. */
export function DemandForm(props: {
  demand: DemandEntry | null;
  /** The default of the probe's author. */
  declared: DemandRange | undefined;
  onRequest: (request: CommandRequest) => void;
  onProblem: (text: string) => void;
}) {
  return props.demand ? (
    <Following demand={props.demand} onRequest={props.onRequest} />
  ) : (
    <Offer {...props} />
  );
}

function Following({
  demand,
  onRequest,
}: {
  demand: DemandEntry;
  onRequest: (request: CommandRequest) => void;
}) {
  const [min, max, asked] = [demand.min, demand.max, demand.asked].map(formatHertz);
  return (
    <div class="demand-form">
      <span class="demand-text" title={words.demandTip} data-testid="demand">
        {words.follows(min ?? '', max ?? '', asked ?? '')}
      </span>
      <button
        type="button"
        class="button"
        data-testid="demand-off"
        onClick={() => onRequest({ command: 'demand-off' })}
      >
        {words.demandOff}
      </button>
    </div>
  );
}

function Offer({
  declared,
  onRequest,
  onProblem,
}: {
  declared: DemandRange | undefined;
  onRequest: (request: CommandRequest) => void;
  onProblem: (text: string) => void;
}) {
  const [least, most] = [useUniqueId(), useUniqueId()];
  const range = declared ?? DEFAULT;
  // The typed rates; empty shows the default of the probe's author.
  const [min, max] = [useSignal<string | undefined>(undefined), useSignal<string | undefined>(undefined)];
  const submit = (event: Event) => {
    event.preventDefault();
    const wanted = { min: Number(min.value ?? range.min), max: Number(max.value ?? range.max) };
    if (!isRate(wanted.min) || !isRate(wanted.max)) return onProblem(words.outOfRange);
    if (wanted.min > wanted.max) return onProblem(words.reversed);
    onRequest({ command: 'demand', ...wanted });
  };
  const input = (id: string, typed: typeof min, shown: number, testId: string) => (
    <input
      id={id}
      class="input hertz-input"
      type="text"
      inputMode="decimal"
      autoComplete="off"
      data-testid={testId}
      value={typed.value ?? formatHertz(shown)}
      onInput={(event) => {
        typed.value = event.currentTarget.value;
      }}
    />
  );
  return (
    <form class="demand-form" noValidate title={words.demandTip} onSubmit={submit}>
      <label class="hertz-unit" for={least}>
        {words.demandFrom}
      </label>
      {input(least, min, range.min, 'demand-min')}
      <label class="hertz-unit" for={most}>
        {words.demandTo}
      </label>
      {input(most, max, range.max, 'demand-max')}
      <span class="hertz-unit" aria-hidden="true">
        {words.hertzUnit}
      </span>
      <button type="submit" class="button" data-testid="demand-on">
        {words.demandOn}
      </button>
    </form>
  );
}
