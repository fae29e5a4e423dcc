import { useSignal } from '@preact/signals';
import { Dot } from '../components/dot.tsx';
import { useUniqueId } from '../components/use_unique_id.ts';
import { dacList } from '../state/dacs.ts';
import { addressWith, chooseTem, isTyped, parseTemLocation, temLocation } from '../state/tem_location.ts';
import { strings } from '../strings/strings.ts';
import { useLayoutFragment } from './dac_links.tsx';

const words = strings.dacs;

/** Leads to the page of another TEM, which is remembered. */
export function TemLocation() {
  const text = useSignal(temLocation.peek() ?? '');
  const problem = useSignal('');
  const [field, hint] = [useUniqueId(), useUniqueId()];
  const fragment = useLayoutFragment();
  const known = temLocation.value;
  return (
    <form
      class="tem-location"
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = parseTemLocation(text.value);
        problem.value = wanted === undefined ? words.notALocation(text.value) : '';
        if (wanted === undefined) return;
        chooseTem(wanted);
        location.assign(addressWith(wanted, fragment.value));
      }}
    >
      <label for={field}>{words.location}</label>
      <div class="row-form">
        <input
          id={field}
          class="input"
          type="text"
          inputMode="url"
          autoComplete="off"
          spellcheck={false}
          maxLength={300}
          aria-describedby={hint}
          data-testid="tem-location"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
        <button type="submit" class="button button-main" data-testid="tem-open">
          {words.openTem}
        </button>
        {known !== undefined && (
          <button
            type="button"
            class="button"
            data-testid="tem-forget"
            onClick={() => {
              chooseTem(undefined);
              text.value = '';
            }}
          >
            {words.forget}
          </button>
        )}
      </div>
      <p class="hint" id={hint}>
        {known === undefined ? words.locationHint : isTyped.value ? words.typed(known) : words.byLink(known)}
      </p>
      <p class="form-problem" role="alert" data-testid="tem-problem">
        {problem.value}
      </p>
      <OtherTems fragment={fragment.value} />
    </form>
  );
}

/** The TEMs that list this DAC: each is as good as the other, also when this DAC is gone. */
function OtherTems({ fragment }: { fragment: string }) {
  const tems = dacList.value?.tems ?? [];
  if (tems.length === 0) return null;
  return (
    <ul class="tems" aria-label={words.tems} data-testid="tems">
      {tems.map(({ address, isLive }) => (
        <li key={address} data-testid="tem-row" data-state={isLive ? 'live' : 'late'}>
          <Dot tone={isLive ? 'good' : 'bad'} />
          <a
            class="tem-link"
            href={addressWith(address, fragment)}
            title={words.temTip(address)}
            data-testid="tem-open-other"
            onClick={() => chooseTem(address)}
          >
            {address}
          </a>
          <span class="hint">{words.temState(isLive)}</span>
        </li>
      ))}
    </ul>
  );
}
