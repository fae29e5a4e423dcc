import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useAttempt } from '../components/use_attempt.ts';
import { authorOf } from '../dashboards/author.ts';
import { lookAt, saveOpen } from '../dashboards/open.ts';
import { formatDay } from '../format/time.ts';
import { type DacVersion, fetchVersions } from '../state/dac_layouts.ts';
import { conflict, type Dashboard } from '../state/dashboard.ts';
import { openDialog } from '../state/dialogs.ts';
import { strings } from '../strings/strings.ts';

const words = strings.layouts;

/** The versions of the open dashboard that the DAC keeps. */
export function DashboardHistory({ shown }: { shown: Dashboard }) {
  const versions = useSignal<readonly DacVersion[]>([]);
  const { problem, attempt } = useAttempt();
  // Another user may have saved: the newest version is not always the one that the page shows.
  const newest = versions.value[0]?.revision;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each revision
  useEffect(() => {
    if (shown.revision === 0) return;
    attempt(async () => {
      versions.value = await fetchVersions(shown.name);
    });
  }, [shown.name, shown.revision, conflict.value]);
  const look = async (revision: number, isSaved: boolean) => {
    await lookAt(revision);
    if (isSaved) await saveOpen(shown.revision && newest);
    openDialog.value = undefined;
  };
  return (
    <section class="dac-layouts" aria-label={words.history}>
      <h3>{`${words.history}: ${shown.name}`}</h3>
      {problem.value && (
        <p class="form-problem" role="status">
          {problem.value}
        </p>
      )}
      <ul class="notes" data-testid="dashboard-history">
        {versions.value.map(({ revision, changed, by }) => (
          <li key={revision} class="notes-line">
            <span>{words.revision(revision)}</span>
            <span class="dashboard-by" title={by}>
              {authorOf(by)}
            </span>
            <time class="notes-time">{formatDay(changed)}</time>
            <button
              type="button"
              class="button button-quiet"
              title={words.lookTip(revision)}
              aria-label={words.lookTip(revision)}
              data-testid="look-at-version"
              onClick={() => attempt(() => look(revision, false))}
            >
              {words.look}
            </button>
            <button
              type="button"
              class="button button-quiet"
              disabled={revision === newest}
              title={words.restoreTip(revision)}
              aria-label={words.restoreTip(revision)}
              data-testid="restore-version"
              onClick={() => attempt(() => look(revision, true))}
            >
              {words.restore}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
