import { useSignal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { IconButton } from '../../components/icon.tsx';
import { MarkdownView } from '../../components/markdown_view.tsx';
import { PastNote } from '../../components/past_note.tsx';
import { useView } from '../../components/use_view.ts';
import { parseKnown } from '../../expressions/resolve.ts';
import { formatQuantity } from '../../format/axis.ts';
import { judge, judgeKnown, withNodes } from '../../state/expressions.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { changePanel } from '../../state/panels.ts';
import { range } from '../../state/time.ts';
import type { AnswerOf } from '../../stream/query.ts';
import { computedPanelStrings } from '../../strings/computed_panels.ts';
import { MAX_MARKDOWN, mapValues, valuesIn } from '../../text/markdown.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';
import { useExpressions } from '../shared/use_expressions.ts';

type Spec = SpecOf<'text'>;

const words = computedPanelStrings.text;

/** Notes in Markdown. Values in double braces are those at the end of the time shown. */
export function TextPanel({ spec }: { spec: Spec }) {
  const isEdited = useSignal(spec.text === '');
  return (
    <section class="panel" data-testid="text" data-panel={spec.id}>
      {isEdited.value ? (
        <Editor
          spec={spec}
          onEnd={() => {
            isEdited.value = false;
          }}
        />
      ) : (
        <Shown
          spec={spec}
          onEdit={() => {
            isEdited.value = true;
          }}
        />
      )}
    </section>
  );
}

function Editor({ spec, onEnd }: { spec: Spec; onEnd: () => void }) {
  const text = useSignal(spec.text);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const save = () => {
    const written = mapValues(text.peek(), withNodes);
    onEnd();
    if (written !== spec.text) changePanel(spec.id, { ...spec, text: written });
  };
  return (
    <form
      class="text-editor"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <textarea
        ref={field}
        class="input"
        maxLength={MAX_MARKDOWN}
        aria-label={words.field}
        placeholder={words.example}
        data-testid="text-field"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save();
          if (event.key === 'Escape') onEnd();
        }}
      />
      <div class="row-form">
        <button type="submit" class="button button-main" data-testid="text-done">
          {words.done}
        </button>
        <button type="button" class="button" onClick={onEnd}>
          {words.cancel}
        </button>
        <span class="hint">{words.hint}</span>
      </div>
    </form>
  );
}

function Shown({ spec, onEdit }: { spec: Spec; onEdit: () => void }) {
  const texts = useMemo(() => valuesIn(spec.text), [spec.text]);
  const answer = useSignal<AnswerOf<'latest'> | undefined>(undefined);
  const { plans, lines } = useExpressions(texts);
  useView(
    () => (texts.length === 0 ? undefined : { kind: 'latest', range: range.value, expressions: plans.value }),
    (result) => {
      if (result.answer.kind === 'latest') answer.value = result.answer;
    },
  );
  const showValue = (expression: string): ComponentChild => {
    const index = lines.findIndex(({ metric }) => metric === expression);
    const problem = index < 0 ? problemOf(expression) : undefined;
    const value = answer.value?.values[index]?.value ?? Number.NaN;
    return (
      <span
        class={problem === undefined ? 'text-value' : 'text-value is-bad'}
        title={problem ?? expression}
        data-testid="text-value"
      >
        {problem === undefined ? formatQuantity(value, lines[index].unit, false) : words.noValue(problem)}
      </span>
    );
  };
  return (
    <>
      <div class="text-body" data-testid="text-body">
        {spec.text.trim() === '' && <p class="hint">{words.empty}</p>}
        <MarkdownView text={spec.text} showValue={showValue} />
      </div>
      <div class="panel-options">
        <IconButton icon="pencil" label={words.edit} testId="text-edit" onClick={onEdit} />
      </div>
      {texts.length > 0 && (
        <PanelFooter spec={spec}>
          <PastNote past={answer.value?.past} />
        </PanelFooter>
      )}
    </>
  );
}

function problemOf(expression: string): string {
  const found = parseKnown(expression) ? judgeKnown(expression) : judge(expression);
  if (found.state !== 'ready') return found.problem;
  // Without the nodes a layout would mean something else on another DAC.
  return words.noNode;
}
