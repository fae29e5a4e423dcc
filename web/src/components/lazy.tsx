import { signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { strings } from '../strings/strings.ts';

const words = strings.panels;

/** A panel or a dialog whose code is loaded when it is shown for the first time. */
export function lazy<P extends object>(load: () => Promise<FunctionComponent<P>>): FunctionComponent<P> {
  const found = signal<{ readonly panel: FunctionComponent<P> } | undefined>(undefined);
  const hasFailed = signal(false);
  const request = () => {
    hasFailed.value = false;
    load().then(
      (panel) => {
        found.value = { panel };
      },
      () => {
        hasFailed.value = true;
      },
    );
  };
  return function Lazy(props: P) {
    useEffect(() => {
      if (!found.peek()) request();
    }, []);
    const Panel = found.value?.panel;
    if (Panel) return <Panel {...props} />;
    if (!hasFailed.value) return <p class="panel-empty">{words.loading}</p>;
    return (
      <div class="panel-empty">
        <p>{words.notLoaded}</p>
        <button type="button" class="button" onClick={request}>
          {words.loadAgain}
        </button>
      </div>
    );
  };
}
