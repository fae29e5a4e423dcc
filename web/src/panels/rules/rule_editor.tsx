import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { Refusal } from '../../api/api.ts';
import { SureButton } from '../../components/sure_button.tsx';
import { useAttempt } from '../../components/use_attempt.ts';
import { useUniqueId } from '../../components/use_unique_id.ts';
import { formatBytes } from '../../format/unit.ts';
import {
  draft,
  isChanged,
  isFileName,
  open,
  refused,
  remove,
  rename,
  save,
  takeOver,
  write,
} from '../../rules/draft.ts';
import { type Checked, checkRules, type Diagnostic, type Rule } from '../../rules/files.ts';
import { rangeOf } from '../../rules/highlight.ts';
import { notify } from '../../state/notice.ts';
import { isConnected } from '../../state/store.ts';
import { ruleStrings } from '../../strings/rules.ts';
import { strings } from '../../strings/strings.ts';
import { CodeField } from './code_field.tsx';
import { RulePreview } from './rule_preview.tsx';

const words = ruleStrings.rules;
/** Pause after a key before the text is checked. */
const PAUSE_MS = 300;

/** Writes a file of rules: checked while somebody types, and tried on the past before it is saved. */
export function RuleEditor({ mayChange, onBack }: { mayChange: boolean; onBack: () => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const nameField = useRef<HTMLInputElement>(null);
  const nameHint = useUniqueId();
  const text = useComputed(() => draft.value?.text ?? '');
  const { checked, problem: notChecked } = useChecked(text);
  const { problem, attempt } = useAttempt();
  const isConflict = useSignal(false);
  const found = draft.value;
  if (!found) return null;
  const diagnostics = refused.value.length > 0 ? refused.value : (checked.value?.diagnostics ?? []);
  const isNew = found.revision === undefined;
  const isFixed = found.isFixed === true;
  const isNamed = isFileName(found.name);
  const maySave = mayChange && !isFixed && isNamed && isChanged.value;
  const onSave = () => {
    if (isNew && mayChange && !isNamed) nameField.current?.focus();
    if (!maySave) return;
    attempt(async () => {
      isConflict.value = false;
      try {
        await save();
        notify(words.saved(draft.peek()?.name ?? ''));
      } catch (error) {
        isConflict.value = error instanceof Refusal && error.code === 'rules_file_changed';
        throw error;
      }
    });
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <div class="table-scroll rule-editor" tabIndex={0}>
      <div class="panel-bar rule-bar">
        <button type="button" class="button button-quiet" data-testid="rule-back" onClick={onBack}>
          {`\u2190 ${words.back}`}
        </button>
        {isNew ? (
          <input
            ref={nameField}
            class="input rule-name"
            type="text"
            placeholder={words.name}
            aria-label={words.name}
            aria-invalid={found.name !== '' && !isNamed}
            aria-describedby={nameHint}
            title={words.badName}
            data-testid="rule-name"
            value={found.name}
            onInput={(event) => rename(event.currentTarget.value)}
          />
        ) : (
          <strong class="rule-name" data-testid="rule-name">
            <bdi>{found.name}</bdi>
          </strong>
        )}
        {isNew && mayChange && !isNamed && (
          <span class="rule-unnamed" id={nameHint} data-testid="rule-unnamed">
            {found.name.trim() === '' ? words.noName : words.badName}
          </span>
        )}
        {isChanged.value && <span class="chip">{words.unsaved}</span>}
        <span class="alarms-links">
          <button
            type="button"
            class="button"
            disabled={checked.value?.formatted === undefined || checked.value.formatted === text.value}
            title={words.formatTip}
            data-testid="rule-format"
            onClick={() => write(checked.peek()?.formatted ?? text.peek())}
          >
            {words.format}
          </button>
          {!isNew && !isFixed && mayChange && (
            <SureButton
              label={words.delete}
              sure={words.deleteSure}
              testId="rule-delete"
              onSure={() => attempt(remove)}
            />
          )}
          <button
            type="button"
            class="button button-main"
            disabled={!maySave}
            title={saveTip(mayChange, isFixed, isNamed)}
            data-testid="rule-save"
            onClick={onSave}
          >
            {words.save}
          </button>
        </span>
      </div>
      {isFixed && (
        <p class="alarms-note" data-testid="rule-fixed">
          {words.fixed}
        </p>
      )}
      <p class="form-problem alarms-problem" role="alert" data-testid="rule-problem">
        {problem.value}
      </p>
      {isConflict.value && (
        <p class="rules-unsaved" data-testid="rule-conflict">
          {words.conflict}
          <button
            type="button"
            class="button"
            data-testid="rule-overwrite"
            onClick={() =>
              attempt(async () => {
                await takeOver();
                isConflict.value = false;
              })
            }
          >
            {words.takeOver}
          </button>
          <SureButton
            label={words.takeMine}
            sure={words.discardSure}
            testId="rule-load"
            onSure={() =>
              attempt(async () => {
                await open(found.name);
                isConflict.value = false;
              })
            }
          />
        </p>
      )}
      <CodeField
        value={text}
        diagnostics={diagnostics}
        isReadOnly={!mayChange && !isNew && !isFixed}
        field={field}
        onInput={write}
        onSave={onSave}
      />
      <Findings
        diagnostics={diagnostics}
        checked={checked.value}
        problem={notChecked.value}
        onGoTo={(diagnostic) => goTo(field, diagnostic)}
      />
      <RulePreview text={text} />
    </div>
  );
}

function saveTip(mayChange: boolean, isFixed: boolean, isNamed: boolean): string {
  if (!mayChange) return words.readOnly;
  if (isFixed) return words.fixed;
  return isNamed ? words.saveTip : words.badName;
}

/** Checks a text whenever it stays for a moment. */
function useChecked(text: { readonly value: string }) {
  const checked = useSignal<Checked | undefined>(undefined);
  const problem = useSignal('');
  useSignalEffect(() => {
    const of = text.value;
    if (!isConnected.value) return;
    const end = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const found = await checkRules(of, end.signal);
        if (end.signal.aborted) return;
        checked.value = found;
        problem.value = '';
      } catch (error) {
        if (!end.signal.aborted) problem.value = error instanceof Error ? error.message : String(error);
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  });
  return { checked, problem };
}

/** What is wrong with the text, or else what its rules read. */
function Findings(props: {
  diagnostics: readonly Diagnostic[];
  checked: Checked | undefined;
  problem: string;
  onGoTo: (diagnostic: Diagnostic) => void;
}) {
  const { diagnostics, checked, problem, onGoTo } = props;
  if (problem !== '') return <p class="form-problem alarms-problem">{words.notChecked(problem)}</p>;
  if (!checked) return <p class="hint">{words.checking}</p>;
  const errors = diagnostics.filter(({ isWarning }) => !isWarning).length;
  return (
    <div class="rule-findings" role="status" data-testid="rule-findings" data-errors={errors}>
      {errors === 0 && <p class="hint">{`${words.fine} ${words.keys}`}</p>}
      <ul>
        {diagnostics.map((diagnostic) => {
          const { code, isWarning, message, help, place } = diagnostic;
          return (
            <li
              key={`${code} ${place?.line} ${place?.column} ${message}`}
              class={isWarning ? 'is-warning' : ''}
              data-testid="rule-diagnostic"
            >
              <button
                type="button"
                class="alarm-time"
                title={words.goTo}
                disabled={!place}
                onClick={() => onGoTo(diagnostic)}
              >
                {place ? words.place(place.line, place.column) : '\u2013'}
              </button>{' '}
              <span class="rule-code">{isWarning ? words.warning(code) : code}</span> {message}
              {help !== '' && <span class="alarm-where">{help}</span>}
            </li>
          );
        })}
        {checked.rules.map((rule) => (
          <li key={rule.name} data-testid="checked-rule">
            <bdi class="alarm-rule">{rule.name}</bdi>: {aboutOf(rule)}
          </li>
        ))}
      </ul>
    </div>
  );
}

function aboutOf({ kind, severity, instances, memory }: Rule): string {
  const what = [words.kinds[kind] ?? kind, severity && strings.alarms.severities[severity].toLowerCase()];
  return words.checkedRule(what.filter(Boolean).join(' '), words.instances(instances), formatBytes(memory));
}

function goTo(field: RefObject<HTMLTextAreaElement>, { place }: Diagnostic): void {
  const area = field.current;
  if (!area || !place) return;
  const [[from, to]] = rangeOf(area.value, place);
  area.focus();
  area.setSelectionRange(from, to);
  // The field is as high as its text: what scrolls is around it.
  const line = Number.parseFloat(getComputedStyle(area).lineHeight);
  area.closest('.code')?.scrollTo({ top: (place.line - 3) * line });
}
