import { bindings } from '../commands/keys.ts';
import { Dialog } from '../components/dialog.tsx';
import { strings } from '../strings/strings.ts';

const words = strings.keys;

/** The actions of keys and pointer. */
export function HelpDialog() {
  return (
    <Dialog title={words.title} testId="help">
      <dl class="keys">
        {bindings.map(({ keys, what }) => (
          <div key={keys[0]}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{words.names[key] ?? key}</kbd>
              ))}
            </dt>
            <dd>{what()}</dd>
          </div>
        ))}
      </dl>
      <ul class="keys-pointer">
        {words.pointer.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </Dialog>
  );
}
