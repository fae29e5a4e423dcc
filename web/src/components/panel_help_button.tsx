import { openTopic } from '../help/topic.ts';
import { titleOf } from '../panels/title.ts';
import { panels } from '../state/panels.ts';
import { strings } from '../strings.ts';
import { IconButton } from './icon.tsx';

/** The question mark of a panel: what it shows, and how to use it. */
export function PanelHelpButton({ id }: { id: string | undefined }) {
  const spec = panels.value.find((candidate) => candidate.id === id);
  if (!spec) return null;
  return (
    <IconButton
      icon="help"
      label={strings.help.open(titleOf(spec))}
      testId="panel-help"
      onClick={() => openTopic({ panel: spec.kind })}
    />
  );
}
