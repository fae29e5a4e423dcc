import { IconButton } from '../components/icon.tsx';
import { titleOf } from '../state/panel_titles.ts';
import { panels } from '../state/panels.ts';
import { strings } from '../strings/strings.ts';
import { openTopic } from './topic.ts';

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
