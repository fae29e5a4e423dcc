import { formatInteger } from '../../format/number.ts';
import { formatClock } from '../../format/time.ts';
import { dacAccounts, isPlace, type LedgerGap, ledgerFilter } from '../../state/dac_ledger.ts';
import { cellsOf } from '../../state/store.ts';
import { strings } from '../../strings/strings.ts';
import { keyOf, type Target } from '../../wire/target.ts';

const words = { ...strings.ledger.path, gap: strings.ledger.gap };

/** The row below an instance: samples taken, received by the DAC and received here, and the causes of the others. */
export function SamplePath({ target, columns }: { target: Target; columns: number }) {
  const account = dacAccounts.value.get(keyOf(target));
  if (!account) return null;
  const isRecorded = Boolean(cellsOf(target).entry.value?.recorder);
  const steps: [count: number, where: string][] = [
    [account.taken, words.taken],
    [account.received, words.received],
    [account.here, words.here],
  ];
  return (
    <tr class="ledger-path" data-testid="ledger-path" data-instance={target.instance}>
      <td colSpan={columns}>
        <p title={words.tip}>
          {steps.map(([count, where]) => `${formatInteger(count)} ${where}`).join(' \u2192 ')}
        </p>
        <ul>
          {account.rest.map(([cause, count]) => (
            <li
              key={cause}
              class={cause === 'unexplained' ? 'is-bad' : ''}
              data-testid="ledger-cause"
              data-cause={cause}
              data-count={count}
            >
              {formatInteger(count)}: {describe(cause, count, isRecorded)}
            </li>
          ))}
        </ul>
        {ledgerFilter.value.cause !== '' && <Gaps gaps={account.gaps} />}
      </td>
    </tr>
  );
}

/** The latest gaps. */
function Gaps({ gaps }: { gaps: readonly LedgerGap[] }) {
  const { numbers, missing } = strings.gaps;
  return (
    <ul class="ledger-gaps">
      {gaps.map(({ from, to, count, time }) => (
        <li key={`${time} ${from}`} data-testid="ledger-gap">
          {words.gap(
            formatClock(time),
            numbers(formatInteger(from), formatInteger(to)),
            missing(formatInteger(count), count === 1),
          )}
        </li>
      ))}
    </ul>
  );
}

function describe(cause: string, count: number, isRecorded: boolean): string {
  if (cause === 'to_come' && isRecorded) return words.recorded;
  return isPlace(cause) ? words.place[cause] : strings.gaps.describe(cause, count);
}
