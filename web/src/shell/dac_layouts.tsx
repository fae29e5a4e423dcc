import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { SureButton } from '../components/sure_button.tsx';
import { useAttempt } from '../components/use_attempt.ts';
import { authorOf } from '../dashboards/author.ts';
import { deleteDashboard, openDashboard, saveDashboard } from '../dashboards/open.ts';
import { formatDay } from '../format/time.ts';
import { dacLayouts, endWithDac, listLayouts } from '../state/dac_layouts.ts';
import { conflict, dashboard } from '../state/dashboard.ts';
import { openDialog } from '../state/dialogs.ts';
import { shownTargets } from '../state/panels.ts';
import { strings } from '../strings/strings.ts';
import { DashboardHistory } from './dashboard_history.tsx';
import '../styles/dashboards.css';

const words = strings.layouts;

type Attempt = ReturnType<typeof useAttempt>['attempt'];

/** Dashboards: layouts that the DAC keeps for all users of its page. */
export function DacLayouts() {
  const { problem, attempt } = useAttempt();
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the dialog opens
  useEffect(() => attempt(listLayouts), []);
  const shown = dashboard.value;
  return (
    <>
      <Conflict attempt={attempt} />
      <section class="dac-layouts" aria-label={words.inDac}>
        <h3>{words.inDac}</h3>
        {endWithDac.value && <p class="hint">{words.kept}</p>}
        <SaveForm attempt={attempt} />
        <p class="form-problem" role="status" data-testid="layout-problem">
          {problem.value || '\u00a0'}
        </p>
        <List attempt={attempt} />
      </section>
      {shown && <DashboardHistory shown={shown} />}
    </>
  );
}

/** Somebody else has saved under this name: which one stays? */
function Conflict({ attempt }: { attempt: Attempt }) {
  if (!conflict.value) return null;
  const { name, problem } = conflict.value;
  const saved = dacLayouts.value.find((layout) => layout.name === name);
  return (
    <section class="dashboard-conflict" role="alert" data-testid="dashboard-conflict">
      <h3>{words.conflict(name)}</h3>
      <p>{saved ? words.savedBy(saved.revision, authorOf(saved.by), formatDay(saved.changed)) : problem}</p>
      <div class="layout-actions">
        <button
          type="button"
          class="button"
          data-testid="conflict-replace"
          onClick={() => attempt(() => saveDashboard(name, 'anything'))}
        >
          {words.replace}
        </button>
        <button
          type="button"
          class="button"
          data-testid="conflict-open"
          onClick={() => attempt(() => open(name))}
        >
          {words.openTheirs}
        </button>
      </div>
    </section>
  );
}

/** Saves the layout of the page, for the nodes that it shows or as a template. */
function SaveForm({ attempt }: { attempt: Attempt }) {
  const name = useSignal(dashboard.peek()?.name ?? '');
  const node = useSignal(dashboard.peek()?.node ?? '');
  const save = () => {
    const wanted = name.value.trim();
    if (wanted === '') return;
    const { name: open, revision = 0 } = dashboard.peek() ?? {};
    const replaced = open === wanted && revision > 0 ? revision : 'nothing';
    attempt(() => saveDashboard(wanted, replaced, node.value === '' ? undefined : node.value));
  };
  return (
    <form
      class="row-form"
      onSubmit={(event) => {
        event.preventDefault();
        save();
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
      <TemplateChoice node={node} />
      <button type="submit" class="button button-main" data-testid="save-layout">
        {words.save}
      </button>
    </form>
  );
}

function TemplateChoice({ node }: { node: Signal<string> }) {
  const nodes = [...new Set(shownTargets.value.map((target) => target.node))].sort();
  return (
    <select
      class="input"
      aria-label={words.forAny}
      data-testid="template-node"
      value={node.value}
      onChange={(event) => {
        node.value = event.currentTarget.value;
      }}
    >
      <option value="">{words.forThese}</option>
      {nodes.map((name) => (
        <option key={name} value={name}>
          {words.forAnyLike(name)}
        </option>
      ))}
    </select>
  );
}

function List({ attempt }: { attempt: Attempt }) {
  return (
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
          <span class="dashboard-by" title={layout.by}>
            {authorOf(layout.by)}
          </span>
          <time class="notes-time">{formatDay(layout.changed)}</time>
          <SureButton
            label={words.delete}
            sure={words.deleteTip(layout.name)}
            testId="delete-saved"
            onSure={() => attempt(() => deleteDashboard(layout.name))}
          />
        </li>
      ))}
    </ul>
  );
}

async function open(name: string): Promise<void> {
  await openDashboard(name);
  openDialog.value = undefined;
}
