import { Dot, type Tone } from '../../components/dot.tsx';
import { type HandlerStatus, handlers } from '../../state/handlers.ts';
import { strings } from '../../strings/strings.ts';

const words = strings.handlers;

const TONES = new Map<string, Tone>([
  ['running', 'good'],
  ['backing_off', 'warn'],
  ['failed', 'bad'],
]);

/** The handlers of the DAC: name, condition and detail, one in a line. Nothing for a DAC without handlers. */
export function HandlerList() {
  if (handlers.value.length === 0) return null;
  return (
    <section class="handlers" aria-label={words.title} title={words.tip} data-testid="handlers">
      <h3>{words.title}</h3>
      <ul>
        {handlers.value.map((handler, index) => (
          <Handler key={`${index} ${handler.name}`} handler={handler} />
        ))}
      </ul>
    </section>
  );
}

function Handler({ handler }: { handler: HandlerStatus }) {
  const { name, condition, activity, detail, restarts } = handler;
  const notes = [restarts > 0 ? words.restarts(restarts) : '', detail].filter(Boolean).join(': ');
  return (
    <li class="handler" data-testid="handler" data-name={name} data-condition={condition}>
      <Dot tone={TONES.get(condition) ?? 'idle'} />
      <strong class="handler-name" title={name}>
        {name}
      </strong>
      <span class="handler-status">{words.status(condition, activity)}</span>
      <span class="handler-detail" title={detail}>
        {notes}
      </span>
    </li>
  );
}
