import type { Signal } from '@preact/signals';
import { useUniqueId } from '../components/use_unique_id.ts';

/** A field with its label. */
export function TextField(props: {
  label: string;
  value: Signal<string>;
  testId: string;
  type?: 'text' | 'password';
  autoComplete?: 'off' | 'new-password' | 'current-password';
  hint?: string;
}) {
  const { label, value, testId, type = 'text', autoComplete = 'off', hint } = props;
  const id = useUniqueId();
  return (
    <div class="text-field">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="input"
        type={type}
        autoComplete={autoComplete}
        spellcheck={false}
        data-testid={testId}
        value={value.value}
        onInput={(event) => {
          value.value = event.currentTarget.value;
        }}
      />
      {hint && <p class="hint">{hint}</p>}
    </div>
  );
}
