import type { Signal } from '@preact/signals';
import { importStrings as words } from './import_strings.ts';

/** A fact about a file that its content may lack: an option of `oasis import`, and a member of a request of the API. */
interface Option {
  readonly key: string;
  /** The option of the command line, which errors name. */
  readonly flag: string;
  readonly type: 'text' | 'number' | 'datetime-local' | 'checkbox';
}

const OPTIONS: readonly Option[] = [
  { key: 'partial', flag: '--partial', type: 'checkbox' },
  { key: 'format', flag: '--format', type: 'text' },
  { key: 'time_column', flag: '--time-column', type: 'text' },
  { key: 'time_format', flag: '--time-format', type: 'text' },
  { key: 'rate', flag: '--rate', type: 'number' },
  { key: 'start', flag: '--start', type: 'datetime-local' },
  { key: 'precision', flag: '--precision', type: 'text' },
  { key: 'delimiter', flag: '--delimiter', type: 'text' },
  { key: 'decimal_comma', flag: '--decimal-comma', type: 'checkbox' },
  { key: 'instance', flag: '--instance', type: 'text' },
];
const NS_IN_MS = 1e6;

/** What was entered, by option. */
export type Entered = Readonly<Record<string, string | boolean>>;

/** The fields of a request: those that were filled. Times are UTC. */
export function choicesOf(entered: Entered): object {
  const given = OPTIONS.filter(({ key }) => entered[key]);
  return Object.fromEntries(
    given.map(({ key, type }) => {
      const value = entered[key];
      if (type === 'number') return [key, Number(value)];
      return [key, type === 'datetime-local' ? Date.parse(`${value}Z`) * NS_IN_MS : value];
    }),
  );
}

/** An error with the labels of this dialog in place of the options of the command line. */
export function withLabels(problem: string): string {
  return problem.replace(/--[a-z-]+/g, (flag) => {
    const option = OPTIONS.find((known) => known.flag === flag);
    if (flag === '--name') return `“${words.name}”`;
    return option ? `“${words.options[option.key].label}”` : flag;
  });
}

/** Fields for what the content of a file does not say. */
export function ImportOptions({
  entered,
  isBusy,
  read,
}: {
  entered: Signal<Entered>;
  isBusy: boolean;
  read: () => void;
}) {
  const enter = (key: string, value: string | boolean) => {
    entered.value = { ...entered.value, [key]: value };
  };
  return (
    <details class="import-options" data-testid="import-options">
      <summary>{words.how}</summary>
      {OPTIONS.map(({ key, type }) => (
        <label class={type === 'checkbox' ? 'panel-toggle' : 'settings-field'} key={key}>
          <span>{words.options[key].label}</span>
          <input
            class={type === 'checkbox' ? '' : 'input'}
            type={type}
            step="any"
            placeholder={words.options[key].hint}
            maxLength={256}
            data-testid={`import-${key}`}
            checked={entered.value[key] === true}
            value={String(entered.value[key] ?? '')}
            onInput={({ currentTarget }) =>
              enter(key, type === 'checkbox' ? currentTarget.checked : currentTarget.value.trim())
            }
          />
        </label>
      ))}
      <button type="button" class="button" data-testid="import-read" disabled={isBusy} onClick={read}>
        {words.readAgain}
      </button>
    </details>
  );
}
