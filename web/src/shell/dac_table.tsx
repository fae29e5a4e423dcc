import { useSignal } from '@preact/signals';
import { Dot } from '../components/dot.tsx';
import { formatInteger } from '../format/number.ts';
import { formatAge } from '../format/time.ts';
import { type DacEntry, dacList } from '../state/dacs.ts';
import { now } from '../state/now.ts';
import { isConnected } from '../state/store.ts';
import { chosenDac } from '../state/tem_location.ts';
import { strings } from '../strings/strings.ts';
import { DacLink, useLayoutFragment } from './dac_links.tsx';

const words = strings.dacs;
const { columns } = words;
/** Most DACs that are listed; a filter finds the others. */
const MAX_LISTED = 100;
/** Fewer DACs are found without a filter. */
const FILTERED = 10;

/** A row for each DAC: how it is, what it has to do, and a link to its page. */
export function DacTable() {
  const wanted = useSignal('');
  const fragment = useLayoutFragment().value;
  const { dacs, at } = dacList.value ?? { dacs: [], at: 0 };
  if (dacs.length === 0) return <p class="hint">{words.none}</p>;
  const found = dacs.filter(({ name }) => name.toLowerCase().includes(wanted.value.trim().toLowerCase()));
  const age = Math.max(0, now.value - at);
  return (
    <div class="dacs">
      {dacs.length > FILTERED && (
        <input
          class="input"
          type="search"
          placeholder={words.filter}
          aria-label={words.filter}
          data-testid="dac-filter"
          value={wanted.value}
          onInput={(event) => {
            wanted.value = event.currentTarget.value;
          }}
        />
      )}
      {!isConnected.value && (
        <p class="hint is-warn" role="status">
          {words.asOf(formatAge(age))}
        </p>
      )}
      <table class="dacs-table" aria-label={words.title}>
        <thead>
          <tr>
            {Object.entries(columns).map(([key, name]) => (
              <th key={key} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {found.slice(0, MAX_LISTED).map((dac) => (
            <Row key={dac.name} dac={dac} fragment={fragment} age={age} />
          ))}
        </tbody>
      </table>
      {found.length === 0 && <p class="hint">{words.noMatch}</p>}
      {found.length > MAX_LISTED && (
        <p class="hint">{words.more(formatInteger(found.length - MAX_LISTED))}</p>
      )}
    </div>
  );
}

function Row({ dac, fragment, age }: { dac: DacEntry; fragment: string; age: number }) {
  const { name, isRelay, isLive, health, nodes, readers, samplesPerSecond, silent, isOwn } = dac;
  const mark = isOwn ? words.own : name === chosenDac.value ? words.last : '';
  return (
    <tr data-testid="dac-row" data-dac={name} data-state={isLive ? 'live' : 'late'}>
      <th scope="row">
        {isOwn ? (
          <bdi class="dac-name" data-testid="dac-name">
            {name}
          </bdi>
        ) : (
          <DacLink dac={dac} fragment={fragment} text={name} class="dac-name" />
        )}
        {mark !== '' && <span class="dac-mark">{mark}</span>}
      </th>
      <td title={isRelay ? words.kindTip : undefined} data-label={columns.kind} data-testid="dac-kind">
        {words.kind(isRelay)}
      </td>
      <td title={words.stateTip} data-label={columns.state}>
        <span class="dac-state">
          <Dot tone={isLive ? 'good' : 'bad'} />
          {words.state(isLive)}
        </span>
      </td>
      <td class={toneOf(health)} data-label={columns.health}>
        {words.health(health)}
      </td>
      <td data-label={columns.nodes}>{formatInteger(nodes)}</td>
      <td data-label={columns.readers}>{countOf(readers)}</td>
      <td data-label={columns.rate}>{countOf(samplesPerSecond)}</td>
      <td data-label={columns.heard}>{words.ago(formatAge(silent + age))}</td>
    </tr>
  );
}

function toneOf(health: string): string {
  return health === 'ok' ? '' : health === 'failing' ? 'is-bad' : 'is-warn';
}

function countOf(count: number | undefined): string {
  return count === undefined ? strings.connection.unknown : formatInteger(count);
}
