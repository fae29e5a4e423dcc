import '../../styles/alarms.css';
import './rules.css';
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Refusal } from '../../api/api.ts';
import { SureButton } from '../../components/sure_button.tsx';
import { useAttempt } from '../../components/use_attempt.ts';
import { useVisible } from '../../components/visible.ts';
import { formatInteger } from '../../format/number.ts';
import { formatBytes } from '../../format/unit.ts';
import { begin, discard, draft, isChanged, isSetAside, keepDraft, open } from '../../rules/draft.ts';
import { type Rule, type RuleFile, type RuleList, readRules } from '../../rules/files.ts';
import { isLine } from '../../series/metrics.ts';
import { shownTargets } from '../../state/panels.ts';
import { entryOf, registry } from '../../state/registry.ts';
import { reread } from '../../state/reread.ts';
import { mayWriteRules } from '../../state/session.ts';
import { isConnected } from '../../state/store.ts';
import { schemaOfTarget } from '../../state/target_schema.ts';
import { ruleStrings } from '../../strings/rules.ts';
import { strings } from '../../strings/strings.ts';
import { RuleEditor } from './rule_editor.tsx';

const words = ruleStrings.rules;
const REREAD_MS = 3000;
/** Rules that are listed. */
const ROWS = 500;

/** The rules of the DAC, and the editor of their files. */
export function RulesPanel() {
  const list = useSignal<RuleList | undefined>(undefined);
  const problem = useSignal('');
  const isAbsent = useSignal(false);
  const isVisible = useVisible();
  useEffect(keepDraft, []);
  useSignalEffect(() => {
    if (!isVisible.value || !isConnected.value) return;
    return reread(async (signal) => {
      try {
        list.value = await readRules(signal);
        problem.value = '';
        isAbsent.value = false;
      } catch (error) {
        if (signal.aborted) return;
        isAbsent.value = error instanceof Refusal && (error.status === 404 || error.status === 503);
        problem.value = error instanceof Error ? error.message : String(error);
      }
    }, REREAD_MS);
  });
  const found = list.value;
  const mayChange = mayWriteRules.value && found?.isEditable === true;
  const isEditing = draft.value !== undefined && !isSetAside.value;
  return (
    <section class="panel alarms-panel rules-panel" data-testid="rules">
      {isAbsent.value && <p class="alarms-note">{words.absent}</p>}
      {!isAbsent.value && problem.value !== '' && (
        <p class="form-problem alarms-problem" role="alert">
          {problem.value}
        </p>
      )}
      {found && !mayChange && (
        <p class="alarms-note" data-testid="rules-read-only">
          {whyReadOnly(found)}
        </p>
      )}
      {isEditing ? (
        <RuleEditor
          mayChange={mayChange}
          onBack={() => {
            if (isChanged.peek()) isSetAside.value = true;
            else discard();
          }}
        />
      ) : (
        <Overview
          list={found}
          mayChange={mayChange}
          onEdit={() => {
            isSetAside.value = false;
          }}
        />
      )}
    </section>
  );
}

function whyReadOnly({ files, rules, isEditable }: RuleList): string {
  if (!isEditable && files.length + rules.length === 0) return words.notConfigured;
  return mayWriteRules.value ? words.notEditable : words.readOnly;
}

function Overview(props: { list: RuleList | undefined; mayChange: boolean; onEdit: () => void }) {
  const { list, mayChange, onEdit } = props;
  const { problem, attempt } = useAttempt();
  if (!list) return <p class="hint">{words.reading}</p>;
  const edit = (act: () => Promise<void> | void) =>
    attempt(async () => {
      await act();
      onEdit();
    });
  const isShut = isChanged.value;
  const tip = isShut ? words.unsavedFirst : undefined;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <div class="table-scroll" tabIndex={0}>
      <div class="rules-overview">
        {isShut && draft.value && (
          <p class="rules-unsaved">
            <button type="button" class="button button-main" data-testid="rule-continue" onClick={onEdit}>
              {words.continue(draft.value.name)}
            </button>
            <SureButton
              label={words.discard}
              sure={words.discardSure}
              testId="rule-discard"
              onSure={discard}
            />
          </p>
        )}
        <div class="rules-head">
          <h3>{words.files}</h3>
          <button
            type="button"
            class="button"
            disabled={isShut}
            title={tip}
            data-testid="rule-new"
            onClick={() => edit(() => begin('', example()))}
          >
            {words.create}
          </button>
        </div>
        <p class="form-problem alarms-problem" role="alert">
          {problem.value}
        </p>
        {list.files.length === 0 && <p class="hint">{words.noFiles}</p>}
        <ul class="rule-files">
          {list.files.map((file) => (
            <File
              key={file.name}
              file={file}
              rules={list.rules.filter((rule) => rule.file === file.name)}
              isShut={isShut}
              mayChange={mayChange}
              onOpen={() => edit(() => open(file.name))}
            />
          ))}
        </ul>
        <h3>{words.list}</h3>
        <RuleLines rules={list.rules} />
      </div>
    </div>
  );
}

/** A first rule, of an instance that the page shows. */
function example(): string {
  const targets = [...shownTargets.peek(), ...(registry.peek()?.instances ?? []).slice(0, 1)];
  for (const target of targets) {
    const metric = schemaOfTarget(target)?.metrics.find(isLine)?.name;
    const type = entryOf(target)?.type;
    if (metric !== undefined && type !== undefined)
      return words.example(target.node, target.instance, type, metric);
  }
  return words.example('NODE', 'INSTANCE', 'MODULE::TYPE', 'METRIC');
}

function File(props: {
  file: RuleFile;
  rules: readonly Rule[];
  isShut: boolean;
  mayChange: boolean;
  onOpen: () => void;
}) {
  const { file, rules, isShut, onOpen } = props;
  const { name, state, diagnostics } = file;
  return (
    <li class={`rule-file is-${state}`} data-testid="rule-file-line" data-state={state}>
      <button
        type="button"
        class="test-run-name"
        disabled={isShut}
        title={isShut ? words.unsavedFirst : words.open(name)}
        data-testid="rule-file"
        data-name={name}
        onClick={onOpen}
      >
        <bdi>{name}</bdi>
      </button>
      <span class="rule-file-state" title={state === 'refused' ? words.refusedTip : undefined}>
        {words.states[state] ?? state}
      </span>
      <span class="alarm-where">{words.count(rules.length)}</span>
      {diagnostics.length > 0 && (
        <ul class="rule-file-problems">
          {diagnostics.slice(0, 5).map(({ code, message, place }) => (
            <li key={`${code} ${place?.line} ${place?.column}`}>
              {place && words.place(place.line, place.column)} {code} {message}
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function RuleLines({ rules }: { rules: readonly Rule[] }) {
  if (rules.length === 0) return <p class="hint">{words.noRules}</p>;
  return (
    <ul class="rule-lines">
      {rules.slice(0, ROWS).map(({ name, kind, file, inputs, severity, memory, instances }) => (
        <li
          key={`${file} ${name}`}
          class={severity ? `rule-line severity-${severity}` : 'rule-line'}
          data-testid="rule-row"
          data-rule={name}
        >
          <bdi class="alarm-rule">{name}</bdi>{' '}
          <span class="alarm-severity">{severity && strings.alarms.severities[severity]}</span>{' '}
          {words.kinds[kind] ?? kind}
          <span class="alarm-where">
            <bdi>
              {[
                file ?? words.fromPdl,
                inputs.join(', '),
                words.instances(instances),
                words.memory(formatBytes(memory)),
              ].join(' \u00b7 ')}
            </bdi>
          </span>
        </li>
      ))}
      {rules.length > ROWS && <li class="hint">{words.moreRules(formatInteger(rules.length - ROWS))}</li>}
    </ul>
  );
}
