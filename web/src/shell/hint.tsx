import { IconButton } from '../components/icon.tsx';
import { endHints, hint } from '../state/hints.ts';
import { strings } from '../strings/strings.ts';

const words = strings.hints;

/** What a first visit should know, one thing at a time, below the list of instances. */
export function Hint() {
  const at = hint.value;
  if (at === undefined || at >= words.texts.length) return null;
  const isLast = at === words.texts.length - 1;
  return (
    <aside class="first-hint" aria-label={words.title} data-testid="hint">
      <p>{words.texts[at]}</p>
      <div class="first-hint-actions">
        {!isLast && (
          <IconButton
            icon="forward"
            label={words.next}
            testId="hint-next"
            onClick={() => {
              hint.value = at + 1;
            }}
          />
        )}
        <IconButton icon="close" label={words.close} testId="hint-close" onClick={endHints} />
      </div>
    </aside>
  );
}
