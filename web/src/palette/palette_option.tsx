import { useEffect, useRef } from 'preact/hooks';
import { NameText } from '../components/name_text.tsx';
import { strings } from '../strings/strings.ts';
import type { PaletteEntry } from './entry.ts';
import { matchedIn } from './match.ts';
import { wordsOf } from './search.ts';

const words = strings.palette;

/** A result of the palette. The focus stays in the field. */
export function PaletteOption(props: {
  id: string;
  entry: PaletteEntry;
  typed: string;
  isChosen: boolean;
  isRecent: boolean;
  onChoose: () => void;
  onActions: (() => void) | undefined;
}) {
  const { id, entry, isChosen, isRecent, onActions } = props;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
    <div
      ref={element}
      id={id}
      class={isChosen ? 'palette-option is-chosen' : 'palette-option'}
      role="option"
      aria-selected={isChosen}
      data-testid="palette-option"
      data-kind={entry.kind}
      // The field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={props.onChoose}
    >
      <span class="palette-title" title={entry.title}>
        <NameText name={entry.title} marked={matchedIn(entry.title, wordsOf(props.typed))} />
      </span>
      {entry.detail && (
        <span class="palette-detail" title={entry.detail}>
          <NameText name={entry.detail} />
        </span>
      )}
      <span class="palette-kind">{isRecent ? words.recent : words.kinds[entry.kind]}</span>
      {entry.keys?.map((key) => (
        <kbd key={key}>{strings.keys.names[key] ?? key}</kbd>
      ))}
      {onActions && (
        <span
          class="palette-more"
          aria-hidden="true"
          title={words.hints.actions}
          onClick={(event) => {
            event.stopPropagation();
            onActions();
          }}
        >
          {'\u203a'}
        </span>
      )}
    </div>
  );
}
