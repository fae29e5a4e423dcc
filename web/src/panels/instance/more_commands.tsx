import type { Signal } from '@preact/signals';
import { DeadbandForm } from '../../components/deadband_form.tsx';
import { DemandForm } from '../../components/demand_form.tsx';
import { can } from '../../state/abilities.ts';
import { command } from '../../state/actions.ts';
import type { InstanceCells } from '../../state/store.ts';
import type { CommandRequest } from '../../stream/protocol.ts';
import { strings } from '../../strings/strings.ts';
import type { Target } from '../../wire/target.ts';

const words = strings.commands;

/** Parameters of a probe that are changed rarely. Its kind and its schema decide which it has. */
export function MoreCommands(props: { target: Target; cells: InstanceCells; problem: Signal<string> }) {
  const { target, cells, problem } = props;
  const entry = cells.entry.value;
  const schema = cells.status.value?.schema;
  if (!entry || !(can(entry, 'demand') || can(entry, 'deadband'))) return null;
  const give = (request: CommandRequest) => {
    problem.value = '';
    command(target, request);
  };
  const tell = (text: string) => {
    problem.value = text;
  };
  const isOffline = entry.state !== 'online';
  return (
    <div class="more-commands" title={isOffline ? words.offline : undefined}>
      <fieldset class="commands-controls" disabled={isOffline}>
        {can(entry, 'demand') && (
          <DemandForm
            demand={entry.demand}
            declared={schema?.rate?.demand}
            onRequest={give}
            onProblem={tell}
          />
        )}
        {can(entry, 'deadband') && (
          <DeadbandForm metrics={schema?.metrics ?? []} onRequest={give} onProblem={tell} />
        )}
      </fieldset>
    </div>
  );
}
