import { useSignal } from '@preact/signals';
import { ExpressionField } from '../../components/expression_field.tsx';
import { IconButton } from '../../components/icon.tsx';
import { lazy } from '../../components/lazy.tsx';
import { edited, judge, judgeKnown, shortText } from '../../state/expressions.ts';
import { notify } from '../../state/notice.ts';
import type { PanelSpec } from '../../state/panel_kinds.ts';
import { changePanel } from '../../state/panels.ts';
import { mayWriteRules } from '../../state/session.ts';
import { strings } from '../../strings/strings.ts';
import { MAX_EXPRESSIONS } from './expressions.ts';

const words = strings.expressions;
/** Few expressions become rules. */
const KeepButton = lazy(async () => (await import('./keep_button.tsx')).KeepButton);

/** A panel with expressions. */
type Spec = Extract<PanelSpec, { readonly expressions?: readonly string[] }>;

/** Opens the field for an expression of a chart; without a number, for a new one. */
export function editExpression(spec: Spec, index: number | undefined): void {
  if (index === undefined && (spec.expressions ?? []).length >= MAX_EXPRESSIONS)
    notify(words.full(MAX_EXPRESSIONS));
  else edited.value = { panel: spec.id, index };
}

/** Why an expression has no line, and the field for one that is added or changed. */
export function ExpressionLines({ spec }: { spec: Spec }) {
  const texts = spec.expressions ?? [];
  const isEdited = edited.value?.panel === spec.id;
  return (
    <div class="expressions">
      {texts.map((text, index) => {
        const found = judgeKnown(text);
        if (found.state === 'ready') return null;
        return (
          <p key={text} class="expression-problem" role="status" data-testid="expression-problem">
            {words.failed(shortText(text), found.problem)}
            <IconButton
              icon="pencil"
              label={words.change(shortText(text))}
              testId="expression-change"
              onClick={() => editExpression(spec, index)}
            />
          </p>
        );
      })}
      {isEdited && <Editor key={edited.value?.index} spec={spec} texts={texts} index={edited.value?.index} />}
    </div>
  );
}

function Editor(props: { spec: Spec; texts: readonly string[]; index: number | undefined }) {
  const { spec, texts, index } = props;
  const before = index === undefined ? undefined : texts[index];
  const value = useSignal(before === undefined ? '' : shortText(before));
  const close = () => {
    edited.value = undefined;
  };
  const change = (expressions: readonly string[]) => {
    close();
    const isEmpty = (spec.kind === 'series' ? spec.sources.length : 0) + expressions.length === 0;
    // A chart without lines would be an empty panel.
    if (!isEmpty) changePanel(spec.id, { ...spec, expressions });
  };
  const done = () => {
    const found = judge(value.peek());
    if (found.state !== 'ready') return;
    const kept = spec.kind === 'xy' ? texts : texts.filter((text) => text !== found.text || text === before);
    if (before === undefined) change([...kept, found.text].slice(0, MAX_EXPRESSIONS));
    else change(kept.map((text) => (text === before ? found.text : text)));
  };
  // Each axis of an XY panel has its expression.
  const isNeeded =
    spec.kind === 'xy' || (texts.length === 1 && !(spec.kind === 'series' && spec.sources.length > 0));
  return (
    <div class="expression-editor">
      <ExpressionField value={value} isAutoFocused={true} onEnter={done} onEscape={close} />
      <button
        type="button"
        class="button button-main"
        disabled={judge(value.value).state !== 'ready'}
        data-testid="expression-done"
        onClick={done}
      >
        {words.done}
      </button>
      {before !== undefined && !isNeeded && (
        <IconButton
          icon="close"
          label={words.remove(shortText(before))}
          testId="expression-remove"
          onClick={() => change(texts.filter((text) => text !== before))}
        />
      )}
      {mayWriteRules.value && <KeepButton text={value.value} onKept={close} />}
      <button type="button" class="button" data-testid="expression-cancel" onClick={close}>
        {words.cancel}
      </button>
    </div>
  );
}
