import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formatDay } from '../format/time.ts';
import { dacLayouts, deleteLayout, fetchLayout, listLayouts, saveLayout } from '../state/dac_layouts.ts';
import { openDialog } from '../state/dialogs.ts';
import { applyLayout, currentLayout } from '../state/saved.ts';
import { strings } from '../strings.ts';
import { useAttempt } from './use_attempt.ts';

const words = strings.layouts;

/** Layouts that the DAC stores for all users of its page. */
export function DacLayouts() {
  const name = useSignal('');
  const { problem, attempt } = useAttempt();
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the dialog opens
  useEffect(() => attempt(listLayouts), []);
  return (
    <section class="dac-layouts" aria-label={words.inDac}>
      <h3>{words.inDac}</h3>
      <form
        class="row-form"
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = name.value.trim();
          if (wanted !== '') attempt(() => saveLayout(wanted, currentLayout()));
        }}
      >
        <input
          class="input"
          type="text"
          maxLength={64}
          placeholder={words.name}
          aria-label={words.name}
          data-testid="layout-name"
          value={name.value}
          onInput={(event) => {
            name.value = event.currentTarget.value;
          }}
        />
        <button type="submit" class="button button-main" data-testid="save-layout">
          {words.save}
        </button>
      </form>
      <p class="form-problem" role="status" data-testid="layout-problem">
        {problem.value || '\u00a0'}
      </p>
      <ul class="notes">
        {dacLayouts.value.length === 0 && <li class="hint">{words.none}</li>}
        {dacLayouts.value.map((layout) => (
          <li key={layout.name} class="notes-line">
            <button
              type="button"
              class="button button-quiet layout-open"
              data-testid="open-saved"
              onClick={() => attempt(() => open(layout.name))}
            >
              {layout.name}
            </button>
            <time class="notes-time">{formatDay(layout.changed)}</time>
            <button
              type="button"
              class="button button-quiet"
              aria-label={words.deleteTip(layout.name)}
              data-testid="delete-saved"
              onClick={() => attempt(() => deleteLayout(layout.name))}
            >
              {words.delete}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

async function open(name: string): Promise<void> {
  const layout = await fetchLayout(name);
  if (!layout) throw new Error(words.notALayout(name));
  applyLayout(layout);
  openDialog.value = undefined;
}
