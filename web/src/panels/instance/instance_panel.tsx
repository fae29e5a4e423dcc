import { useSignal } from '@preact/signals';
import { NameText } from '../../components/name_text.tsx';
import { OfflineNote } from '../../components/offline_note.tsx';
import { useShown } from '../../components/use_shown.ts';
import { useUniqueId } from '../../components/use_unique_id.ts';
import { shortType } from '../../format/name.ts';
import { unwatch } from '../../state/actions.ts';
import { labelsOf, pairsOf } from '../../state/labels.ts';
import { nameOf } from '../../state/names.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { cellsOf, type InstanceCells } from '../../state/store.ts';
import { strings } from '../../strings/strings.ts';
import { visible } from '../../text/visible.ts';
import type { Target } from '../../wire/target.ts';
import { CardState } from './card_state.tsx';
import { CommandBar } from './command_bar.tsx';
import { Gaps } from './gaps.tsx';
import { Gauges } from './gauges.tsx';
import { HistoryStrip } from './history_strip.tsx';
import { KeptSettings } from './kept_settings.tsx';
import { MetricTable } from './metric_table.tsx';
import { MoreCommands } from './more_commands.tsx';

/** Everything about one instance. */
export function InstancePanel({ spec: { target } }: { spec: SpecOf<'instance'> }) {
  const cells = cellsOf(target);
  const heading = useUniqueId();
  const problem = useSignal('');
  const shown = useShown(target, cells);
  return (
    <article
      class="card"
      aria-labelledby={heading}
      data-testid="card"
      data-node={target.node}
      data-instance={target.instance}
    >
      <header class="card-head">
        <div class="card-names">
          <h2 class="card-title" id={heading} title={target.instance} data-testid="card-title">
            <NameText name={target.instance} />
          </h2>
          <CardType target={target} cells={cells} />
          <LabelChips target={target} />
        </div>
        <CardState cells={cells} />
        <button
          type="button"
          class="button button-quiet"
          title={strings.card.unwatchTip(target.instance)}
          data-testid="unwatch"
          onClick={() => unwatch(target)}
        >
          {strings.card.unwatch}
        </button>
      </header>
      <Problem cells={cells} />
      <Gauges cells={cells} shown={shown} />
      <HistoryStrip cells={cells} />
      <CommandBar target={target} cells={cells} problem={problem} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <section class="card-scroll" tabIndex={0} aria-label={`${strings.card.metrics}: ${nameOf(target)}`}>
        <OfflineNote target={target} />
        <MetricTable target={target} cells={cells} shown={shown} />
        <MoreCommands target={target} cells={cells} problem={problem} />
        <KeptSettings target={target} cells={cells} />
        <Gaps cells={cells} target={target} />
      </section>
    </article>
  );
}

function Problem({ cells }: { cells: InstanceCells }) {
  const problem = cells.status.value?.problem;
  return problem === undefined ? null : (
    <p class="card-problem" role="alert" data-testid="problem">
      {problem}
    </p>
  );
}

function CardType({ target, cells }: { target: Target; cells: InstanceCells }) {
  const schema = cells.status.value?.schema;
  const type = schema?.name ?? cells.entry.value?.type ?? '';
  const version = schema?.version ?? cells.entry.value?.version ?? '';
  return (
    <p class="card-type" title={[type, schema?.uuid, schema?.doc].filter(Boolean).join('\n')}>
      <span data-testid="card-type">
        {type === '' ? strings.connection.unknown : `${shortType(type)} ${version}`}
      </span>
      <span class="card-node" title={target.node} data-testid="card-node">
        <NameText name={strings.card.on(target.node)} />
      </span>
    </p>
  );
}

/** The labels of an instance, with those of its node; nothing without any. */
function LabelChips({ target }: { target: Target }) {
  const pairs = pairsOf(labelsOf(target));
  if (pairs.length === 0) return null;
  return (
    <span
      class="label-chips"
      title={strings.commands.kept.labelList(pairs.map(visible).join(', '))}
      data-testid="labels"
    >
      {pairs.map((pair) => (
        <span key={pair} class="label-chip">
          <bdi>{visible(pair)}</bdi>
        </span>
      ))}
    </span>
  );
}
