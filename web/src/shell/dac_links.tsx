import { type ReadonlySignal, useSignal, useSignalEffect } from '@preact/signals';
import { geometry, layoutFragment } from '../layout/saved.ts';
import { type DacEntry, isOwnSilent, isTemAlone, otherDacs, otherTems, ownDac } from '../state/dacs.ts';
import { openDialog } from '../state/dialogs.ts';
import { otherPages } from '../state/other_pages.ts';
import { panels } from '../state/panels.ts';
import { addressWith, chosenDac, pageAddress, rememberDac } from '../state/tem_location.ts';
import { range } from '../state/time.ts';
import { strings } from '../strings/strings.ts';

const words = strings.dacs;
/** DACs that the banner offers; the dialog has the others. */
const OFFERED = 3;

/** The layout of this page as a fragment; follows its changes. Empty without panels. */
export function useLayoutFragment(): ReadonlySignal<string> {
  const fragment = useSignal('');
  useSignalEffect(() => {
    void [geometry.value, range.value];
    let isCurrent = true;
    if (panels.value.length === 0) fragment.value = '';
    else
      void layoutFragment().then((text) => {
        if (isCurrent) fragment.value = text;
      });
    return () => {
      isCurrent = false;
    };
  });
  return fragment;
}

/** What a link needs of a DAC. */
type Linked = Pick<DacEntry, 'name' | 'address'>;

/** A link to the page of another DAC, with this layout. */
export function DacLink(props: { dac: Linked; fragment: string; text: string; class: string }) {
  const { dac, fragment, text } = props;
  if (dac.address === undefined)
    return (
      <span class={props.class} title={words.noAddress} data-testid="dac-name">
        {text}
      </span>
    );
  return (
    <a
      class={props.class}
      href={addressWith(dac.address, fragment, pageAddress())}
      title={words.openTip(dac.address)}
      data-testid="dac-link"
      data-dac={dac.name}
      onClick={() => rememberDac(dac.name)}
    >
      {text}
    </a>
  );
}

/** Offers other DACs while this one does not answer. */
export function OtherDacs() {
  const fragment = useLayoutFragment().value;
  const others = offered().sort((one, other) => rank(other) - rank(one));
  // The page of a TEM leads to another TEM, and that of a DAC to another DAC if there is one.
  const tems = others.length === 0 || isTemAlone.value ? otherTems.value.slice(0, OFFERED) : [];
  if (!isOwnSilent.value || (others.length === 0 && tems.length === 0)) return null;
  return (
    <p class="banner-dacs" data-testid="other-dacs">
      {!isTemAlone.value && <span>{words.silent(ownDac.value)}</span>}
      {others.slice(0, OFFERED).map((dac) => (
        <DacLink
          key={dac.name}
          dac={dac}
          fragment={fragment}
          text={words.openOther(dac.name)}
          class="button dac-offer"
        />
      ))}
      {others.length > OFFERED && (
        <button
          type="button"
          class="button"
          onClick={() => {
            openDialog.value = 'dacs';
          }}
        >
          {words.allOthers(others.length)}
        </button>
      )}
      {tems.map((tem) => (
        <a key={tem} class="button dac-offer" href={addressWith(tem, fragment)} data-testid="tem-link">
          {words.askTem(tem)}
        </a>
      ))}
    </p>
  );
}

/** Those that the TEM of this DAC lists, and those at which the page can go on. */
function offered(): Linked[] {
  const listed: readonly Linked[] = otherDacs.value;
  const names = new Set(listed.map(({ name }) => name));
  return [...listed, ...otherPages.value.filter(({ name }) => !names.has(name))];
}

/** The DAC that was opened last comes first. */
function rank({ name }: Linked): number {
  return name === chosenDac.value ? 1 : 0;
}
