import { formatInteger } from '../../format/number.ts';
import { TEST_RUNS_PAGE, type TestRunPage, turnToNewer, turnToOlder } from '../../state/test_runs.ts';
import { testRunStrings } from '../../strings/test_runs.ts';

const words = testRunStrings.testRuns;

/** Reports test runs that are not listed, and leads to their page. */
export function TestRunPages({ number, hasOlder }: TestRunPage) {
  if (number === 1 && !hasOlder) return null;
  return (
    <div class="test-run-pages" data-testid="test-run-pages">
      <span>
        {number === 1 ? words.newestOnly(formatInteger(TEST_RUNS_PAGE)) : words.page(formatInteger(number))}
      </span>
      {number > 1 && (
        <button type="button" class="button" data-testid="test-runs-newer" onClick={turnToNewer}>
          {words.newer}
        </button>
      )}
      {hasOlder && (
        <button type="button" class="button" data-testid="test-runs-older" onClick={turnToOlder}>
          {words.older}
        </button>
      )}
    </div>
  );
}
