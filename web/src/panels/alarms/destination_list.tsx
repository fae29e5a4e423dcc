import './destinations.css';
import { useSignal, useSignalEffect } from '@preact/signals';
import { type Destination, readDestinations, testDestination } from '../../alarms/destinations.ts';
import { Dot, type Tone } from '../../components/dot.tsx';
import { useVisible } from '../../components/visible.ts';
import { formatInteger } from '../../format/number.ts';
import { reread } from '../../state/reread.ts';
import { isConnected } from '../../state/store.ts';
import { destinationStrings } from '../../strings/destinations.ts';

const words = destinationStrings.destinations;
const REREAD_MS = 3000;

/** The destinations of notifications with their state, and a test of each. Only an administrator may read them. */
export function DestinationList() {
  const found = useSignal<readonly Destination[] | undefined>(undefined);
  const problem = useSignal('');
  const isVisible = useVisible();
  useSignalEffect(() => {
    if (!isVisible.value || !isConnected.value) return;
    return reread(async (signal) => {
      try {
        found.value = await readDestinations(signal);
        problem.value = '';
      } catch (error) {
        if (!signal.aborted) problem.value = error instanceof Error ? error.message : String(error);
      }
    }, REREAD_MS);
  });
  return (
    <>
      {problem.value !== '' && (
        <p class="form-problem" role="alert">
          {found.value ? words.stale(problem.value) : problem.value}
        </p>
      )}
      {!found.value && problem.value === '' && <p class="hint">{words.reading}</p>}
      {found.value?.length === 0 && (
        <p class="hint" data-testid="no-destinations">
          {words.none}
        </p>
      )}
      <ul class="destination-list">
        {found.value?.map((destination) => (
          <Row key={destination.name} destination={destination} />
        ))}
      </ul>
    </>
  );
}

function Row({ destination }: { destination: Destination }) {
  const { name, kind, waiting, delivered, failed, problem } = destination;
  const [tone, state] = stateOf(destination);
  return (
    <li class="destination" data-testid="destination" data-name={name} data-state={state}>
      <Dot tone={tone} />
      <strong class="destination-name">
        <bdi>{name}</bdi>
      </strong>
      <span class="destination-kind">{words.kind(kind)}</span>
      <span class={`destination-state is-${tone}`}>{words[state]}</span>
      <span class="destination-counts">
        {words.counts(formatInteger(delivered), formatInteger(waiting), formatInteger(failed))}
      </span>
      <TestButton name={name} />
      {problem !== '' && (
        <span class="destination-problem">
          <bdi>{words.lastProblem(problem)}</bdi>
        </span>
      )}
    </li>
  );
}

function stateOf({
  isFailing,
  waiting,
  delivered,
}: Destination): [Tone, 'failing' | 'waiting' | 'idle' | 'ok'] {
  if (isFailing) return ['bad', 'failing'];
  if (waiting > 0) return ['warn', 'waiting'];
  return delivered === 0 ? ['idle', 'idle'] : ['good', 'ok'];
}

/** Sends a test, and says beside it what has become of it. */
function TestButton({ name }: { name: string }) {
  const isTesting = useSignal(false);
  const outcome = useSignal('');
  const test = async () => {
    if (isTesting.peek()) return;
    isTesting.value = true;
    outcome.value = words.testing;
    try {
      await testDestination(name);
      outcome.value = words.accepted;
    } catch (error) {
      outcome.value = words.refused(error instanceof Error ? error.message : String(error));
    }
    isTesting.value = false;
  };
  return (
    <>
      <button
        type="button"
        class="button destination-test"
        aria-label={words.testOf(name)}
        title={words.testOf(name)}
        aria-disabled={isTesting.value}
        data-testid="destination-test"
        onClick={() => void test()}
      >
        {words.test}
      </button>
      <span class="destination-outcome" role="status" data-testid="destination-outcome">
        {outcome.value}
      </span>
    </>
  );
}
