import { type Signal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type NamedMetric, type Suggestion, suggest } from '../expressions/suggest.ts';
import { FUNCTIONS, type FunctionName } from '../expressions/syntax.ts';
import { MAX_TEXT, quoteName } from '../expressions/tokens.ts';
import { formatUnit } from '../format/unit.ts';
import { partsOf } from '../series/parts.ts';
import { judge } from '../state/expressions.ts';
import { entryOf } from '../state/registry.ts';
import { readSchemas } from '../state/schemas.ts';
import { registry } from '../state/store.ts';
import { schemaOfTarget } from '../state/target_schema.ts';
import { strings } from '../strings/strings.ts';
import type { Target } from '../wire/target.ts';
import { useSame } from './use_same.ts';
import { useUniqueId } from './use_unique_id.ts';

const words = strings.expressions;

/** A field for an expression: suggests names while somebody types, and says the unit of the result or what is wrong. */
export function ExpressionField(props: {
  value: Signal<string>;
  label?: string;
  testId?: string;
  isAutoFocused?: boolean;
  onEnter: () => void;
  onEscape: () => void;
}) {
  const { value, label = words.title, testId = 'expression' } = props;
  const field = useRef<HTMLInputElement>(null);
  const list = useUniqueId();
  const status = useUniqueId();
  const caret = useSignal(0);
  const isOpen = useSignal(false);
  /** What the suggestion that is chosen would insert: it stays chosen while others come and go. */
  const chosen = useSignal('');
  // An equal list keeps what is chosen in it.
  const found = useSame((): readonly Suggestion[] => {
    const instances = registry.value?.instances ?? [];
    return isOpen.value ? suggest(value.value.slice(0, caret.value), instances, metricsOf) : [];
  });
  const suggestions = found.value;
  const at = suggestions.findIndex(({ insert }) => insert === chosen.value);
  const judged = useComputed(() => (value.value.trim() === '' ? undefined : judge(value.value))).value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the field opens
  useEffect(() => {
    if (props.isAutoFocused) field.current?.focus();
  }, []);
  const take = ({ insert, from }: Suggestion) => {
    const after = value.value.slice(caret.value);
    value.value = value.value.slice(0, from) + insert + after;
    caret.value = from + insert.length;
    // After a metric nothing is left to suggest.
    isOpen.value = insert.endsWith('.');
    chosen.value = '';
    const input = field.current;
    if (!input) return;
    input.value = value.value;
    input.focus();
    input.setSelectionRange(caret.value, caret.value);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Keys may come faster than drawings.
    const listed = found.value;
    const isListed = listed.length > 0;
    const now = listed.findIndex(({ insert }) => insert === chosen.peek());
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && isListed) {
      const places = listed.length + 1;
      chosen.value = listed[((now + 1 + step + places) % places) - 1]?.insert ?? '';
    } else if ((event.key === 'Enter' || event.key === 'Tab') && listed[now]) {
      take(listed[now]);
    } else if (event.key === 'Enter') props.onEnter();
    else if (event.key === 'Escape' && isListed) isOpen.value = false;
    else if (event.key === 'Escape') {
      props.onEscape();
      return;
    } else return;
    // Enter sends the form of a dialog by itself.
    if (event.key !== 'Enter' || listed[now]) event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="expression-field">
      <input
        ref={field}
        class="input"
        type="text"
        // biome-ignore lint/a11y/noAutofocus: a dialog gives the focus to the field that asks for it so
        autoFocus={props.isAutoFocused}
        role="combobox"
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={suggestions.length > 0}
        aria-controls={list}
        aria-activedescendant={at >= 0 ? `${list}-${at}` : undefined}
        aria-describedby={status}
        aria-invalid={judged?.state === 'failed'}
        autoComplete="off"
        spellcheck={false}
        maxLength={MAX_TEXT}
        placeholder={props.label ?? words.example}
        data-testid={testId}
        value={value.value}
        onInput={(event) => {
          value.value = event.currentTarget.value;
          caret.value = event.currentTarget.selectionStart ?? value.value.length;
          isOpen.value = true;
          chosen.value = '';
        }}
        onKeyDown={onKeyDown}
        onBlur={() => {
          isOpen.value = false;
        }}
      />
      <div
        class="suggestions"
        id={list}
        role="listbox"
        aria-label={words.suggestions}
        hidden={suggestions.length === 0}
      >
        {suggestions.map((suggestion, index) => (
          <div
            key={`${suggestion.insert} ${suggestion.detail}`}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            class={index === at ? 'suggestion is-chosen' : 'suggestion'}
            data-testid="suggestion"
            onPointerDown={(event) => {
              // The field keeps the focus.
              event.preventDefault();
              take(suggestion);
            }}
          >
            <bdi class="suggestion-name">{suggestion.name}</bdi>
            <bdi class="suggestion-detail">{aboutOf(suggestion)}</bdi>
          </div>
        ))}
      </div>
      <p
        id={status}
        class={judged?.state === 'failed' ? 'expression-status is-bad' : 'expression-status'}
        role="status"
        data-testid={`${testId}-status`}
      >
        {judged === undefined
          ? words.hint
          : judged.state === 'ready'
            ? judged.unit === undefined
              ? words.plain
              : words.unit(formatUnit(judged.unit))
            : judged.problem}
      </p>
    </div>
  );
}

/** What a function does; of everything else, where it is. */
function aboutOf({ name, detail }: Suggestion): string {
  const called = name.replace('()', '');
  return name !== called && Object.hasOwn(FUNCTIONS, called)
    ? words.functions[called as FunctionName]
    : detail;
}

/** The numbers of an instance, as an expression writes them. Reads signals. */
function metricsOf(target: Target): NamedMetric[] {
  const schema = schemaOfTarget(target);
  const entry = schema ? undefined : entryOf(target);
  if (entry) void readSchemas([entry]);
  return (schema?.metrics ?? []).flatMap((metric) => {
    const own =
      typeof metric.type === 'string' && metric.type !== 'string'
        ? [{ name: quoteName(metric.name), detail: formatUnit(metric.unit) }]
        : [];
    const within = partsOf(metric).map((part) => ({
      // The user chooses the element.
      name: part.pattern.split('.').map(quotePart).join('.'),
      detail: formatUnit(part.metric.unit),
    }));
    return [...own, ...within];
  });
}

function quotePart(part: string): string {
  return part.endsWith('[]') ? `${quoteName(part.slice(0, -2))}[0]` : quoteName(part);
}
