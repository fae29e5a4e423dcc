import { choice, connection, registry } from '../state/store.ts';
import { keyOf } from '../stream/view.ts';
import { strings } from '../strings.ts';
import { Card } from './card.tsx';

export function Cards() {
  const targets = choice.value ?? [];
  return (
    <main class="main" aria-label={strings.main.label}>
      {targets.length === 0 ? (
        <Empty />
      ) : (
        <div class="cards" data-testid="cards">
          {targets.map((target) => (
            <Card key={keyOf(target)} target={target} />
          ))}
        </div>
      )}
    </main>
  );
}

function Empty() {
  const words = strings.main;
  const [title, text] = !registry.value
    ? [words.loadingTitle, strings.lossReason[connection.value.reason]]
    : registry.value.instances.length === 0
      ? [words.noNodesTitle, words.noNodesText]
      : [words.emptyTitle, words.emptyText];
  return (
    <section class="empty" data-testid="empty">
      <h2>{title}</h2>
      <p>{text}</p>
    </section>
  );
}
