import { useSignal } from '@preact/signals';
import { useUniqueId } from '../../components/use_unique_id.ts';
import { formatHertz } from '../../format/name.ts';
import { isRate } from '../../stream/protocol.ts';
import { strings } from '../../strings/strings.ts';

const words = strings.commands;
const PRESETS = [1, 10, 100];

/** The sampling rate of an instance. */
export function HertzForm(props: {
  hertz: number | undefined;
  onHertz: (hertz: number) => void;
  onProblem: (text: string) => void;
}) {
  const field = useUniqueId();
  // The typed rate; empty shows the configured one.
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
