import { IconButton } from '../components/icon.tsx';
import { copyText } from '../state/copy.ts';
import { connection, registry } from '../state/store.ts';
import { strings } from '../strings/strings.ts';

const words = strings.main;

/** A page without panels: what it waits for, and what to do. */
export function Empty() {
  const isWithoutNodes = registry.value?.instances.length === 0;
  const [title, text] = !registry.value
    ? [words.loadingTitle, strings.lossReason[connection.value.reason]]
    : isWithoutNodes
      ? [words.noNodesTitle, words.noNodesText]
      : [words.emptyTitle, words.emptyText];
  return (
    <section class="empty" data-testid="empty">
      <h2>{title}</h2>
      <p>{text}</p>
      {isWithoutNodes && (
        <ul class="empty-commands">
          {words.commands(location.hostname).map(({ command, about }) => (
            <li key={command}>
              <span>{about}</span>
              <code>{command}</code>
              <IconButton
                icon="copy"
                label={words.copy(command)}
                testId="copy-command"
                onClick={() => void copyText(command)}
              />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
