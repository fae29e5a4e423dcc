import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { openDialog } from '../state/dialogs.ts';
import { strings } from '../strings/strings.ts';
import { IconButton } from './icon.tsx';

const FIELDS = 'input:not([type=file]), select, textarea, [contenteditable=true]';
const CONTROLS = 'button, a[href], [tabindex="0"]';

/** The browser would begin with the button that closes the dialog: people open it to fill in or to choose something. */
function focusFirst(dialog: HTMLDialogElement): void {
  if (dialog.querySelector('[autofocus]')) return;
  const content = [...dialog.querySelectorAll<HTMLElement>(`${FIELDS}, ${CONTROLS}`)].filter(
    (element) => !element.matches(':disabled') && !element.closest('.dialog-head'),
  );
  // The arrow keys begin at the chosen field of a choice.
  const fields = content.filter((element) => element.matches(FIELDS) && !isOtherChoice(element));
  (fields[0] ?? content[0])?.focus();
}

function isOtherChoice(element: HTMLElement): boolean {
  return element instanceof HTMLInputElement && element.type === 'radio' && !element.checked;
}

/** A window over the page. The browser keeps the focus in it, and closes it with Escape. */
export function Dialog(props: {
  title: string;
  testId: string;
  /** Whether the content has its own head. */
  isBare?: boolean;
  children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const isShown = useRef(true);
  const close = () => {
    // The browser says later that it has closed: by then another dialog may be open.
    if (isShown.current) openDialog.value = undefined;
  };
  // Before the next frame: a key that is pressed as soon as the dialog is there belongs to the dialog.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (!dialog) return;
    dialog.showModal();
    focusFirst(dialog);
    // A click on the backdrop closes the dialog, as Escape does.
    const leave = (event: Event) => event.target === dialog && dialog.close();
    dialog.addEventListener('click', leave);
    return () => {
      dialog.removeEventListener('click', leave);
      isShown.current = false;
      dialog.close();
    };
  }, []);
  return (
    <dialog class="dialog" ref={element} aria-label={props.title} data-testid={props.testId} onClose={close}>
      <div class={props.isBare ? 'dialog-bare' : 'dialog-body'}>
        {!props.isBare && (
          <header class="dialog-head">
            <h2>{props.title}</h2>
            <IconButton icon="close" label={strings.dialog.close} testId="dialog-close" onClick={close} />
          </header>
        )}
        {props.children}
      </div>
    </dialog>
  );
}
