import '../styles/kept.css';
import { useSignal } from '@preact/signals';
import { Dialog } from '../components/dialog.tsx';
import { useAttempt } from '../components/use_attempt.ts';
import { labeled, pairsOf, setLabels } from '../state/labels.ts';
import { entryOf, nodeOf } from '../state/registry.ts';
import { strings } from '../strings/strings.ts';
import { visible } from '../text/visible.ts';
import { type Labels, NO_LABELS } from '../wire/settings.ts';

const words = strings.commands.kept;

/** The labels of an instance and of its node: free pairs of key and value. */
export function LabelsDialog() {
  const target = labeled.value;
  if (!target) return null;
  const { node, instance } = target;
  return (
    <Dialog title={words.labelsTitle} testId="labels">
      <p class="hint">{words.labelsHint}</p>
      <LabelSection
        title={words.ofInstance(visible(instance))}
        labels={entryOf(target)?.labels ?? NO_LABELS}
        of={{ node, instance }}
        testId="labels-instance"
      />
      <LabelSection
        title={words.ofNode(visible(node))}
        labels={nodeOf(node)?.labels ?? NO_LABELS}
        of={{ node }}
        testId="labels-node"
      />
    </Dialog>
  );
}

function LabelSection(props: {
  title: string;
  labels: Labels;
  of: { readonly node: string; readonly instance?: string };
  testId: string;
}) {
  const { title, labels, of, testId } = props;
  const typed = useSignal('');
  const wrong = useSignal('');
  const { problem, attempt } = useAttempt();
  const add = (event: Event) => {
    event.preventDefault();
    const at = typed.value.indexOf('=');
    const key = typed.value.slice(0, at).trim();
    wrong.value = at < 1 || key === '' ? words.pairWrong : '';
    if (wrong.value !== '') return;
    const value = typed.value.slice(at + 1).trim();
    attempt(async () => {
      await setLabels(of, { [key]: value });
      typed.value = '';
    });
  };
  return (
    <section class="labels-section" data-testid={testId}>
      <h3>{title}</h3>
      <ul class="labels-list">
        {pairsOf(labels).map((pair) => (
          <li key={pair} class="label-chip" data-testid="label">
            <bdi>{visible(pair)}</bdi>
            <button
              type="button"
              class="button button-quiet"
              aria-label={words.remove(visible(pair))}
              title={words.remove(visible(pair))}
              data-testid="label-remove"
              onClick={() => attempt(() => setLabels(of, { [pair.slice(0, pair.indexOf('='))]: null }))}
            >
              {'\u00d7'}
            </button>
          </li>
        ))}
        {pairsOf(labels).length === 0 && <li class="hint">{words.noLabels}</li>}
      </ul>
      <form class="row-form" noValidate onSubmit={add}>
        <input
          class="input"
          type="text"
          maxLength={330}
          placeholder={words.pair}
          aria-label={`${title}: ${words.pair}`}
          spellcheck={false}
          autoComplete="off"
          data-testid="label-text"
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
          }}
        />
        <button type="submit" class="button button-main" data-testid="label-add">
          {words.add}
        </button>
      </form>
      <p class="form-problem" role="status" data-testid="label-problem">
        {wrong.value || problem.value}
      </p>
    </section>
  );
}
