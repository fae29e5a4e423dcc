import { useEffect } from 'preact/hooks';
import type { Entry } from '../../alarms/journal.ts';
import { figuresOf, readEnumerators } from '../../state/enumerators.ts';

type Compared = Pick<Entry, 'rule' | 'node' | 'instance' | 'value' | 'limit' | 'unit'>;

/** The value of an alarm and the limit that it was compared with. */
export function AlarmFigures({ alarm }: { alarm: Compared }) {
  useEffect(() => void readEnumerators(alarm), [alarm]);
  const text = figuresOf(alarm);
  return text === '' ? null : <span class="alarm-value">{text}</span>;
}
