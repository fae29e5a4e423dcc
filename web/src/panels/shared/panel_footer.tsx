import type { ComponentChildren } from 'preact';
import { IconButton } from '../../components/icon.tsx';
import { NameText } from '../../components/name_text.tsx';
import { OfflineNote } from '../../components/offline_note.tsx';
import { formatInteger, formatRough } from '../../format/number.ts';
import { formatAge, formatInstant } from '../../format/time.ts';
import { countedSince, toneOfLoss } from '../../state/counted.ts';
import { ageOf } from '../../state/freshness.ts';
import { nameOf } from '../../state/names.ts';
import { isSettable, type PanelContent, targetsOf } from '../../state/panel_kinds.ts';
import { openSettings } from '../../state/panels.ts';
import { cellsOf } from '../../state/store.ts';
import { range } from '../../state/time.ts';
import type { HopTimes } from '../../stream/view.ts';
import { strings } from '../../strings/strings.ts';
import { keyOf, type Target } from '../../wire/target.ts';

const words = strings.card;
const { unknown } = strings.connection;

/** The footer of a panel: age of the newest sample, rate and missing samples. */
export function PanelFooter({ spec, children }: { spec: PanelContent; children?: ComponentChildren }) {
  const targets = [...new Map(targetsOf(spec).map((target) => [keyOf(target), target])).values()];
  return (
    <>
      {targets.map((target) => (
        <OfflineNote key={keyOf(target)} target={target} />
      ))}
      <div class="panel-footer" data-testid="panel-footer">
        <PastMark />
        {targets.map((target) => (
          <Trust key={keyOf(target)} target={target} isNamed={targets.length > 1} />
        ))}
        {children}
        {isSettable(spec) && (
          <span class="panel-settings">
            <IconButton
              icon="wrench"
              label={strings.panels.settings}
              testId="panel-settings"
              onClick={() => openSettings(spec.id)}
            />
          </span>
        )}
      </div>
    </>
  );
}

/** Marks the past, because the other figures are those of now. */
function PastMark() {
  const shown = range.value;
  if (shown.live) return null;
  return (
    <span class="past-mark" data-testid="past-mark">
      {strings.past.until(formatInstant(shown.to))}
    </span>
  );
}

function Trust({ target, isNamed }: { target: Target; isNamed: boolean }) {
  const cells = cellsOf(target);
  const age = ageOf(cells);
  const rate = cells.flow.value?.rate;
  const counts = cells.counts.value;
  const keptBack = counts?.keptBack ?? 0;
  const { notHere = 0, since = 0 } = cells.loss.value ?? {};
  const began = countedSince(cells);
  return (
    <span class="trust">
      {!range.value.live && <span>{strings.past.nowShort}</span>}
      <span class="trust-name" title={isNamed ? nameOf(target) : target.node}>
        <NameText name={isNamed ? `${nameOf(target)}:` : target.node} />
      </span>
      <span title={hopsTip(cells.flow.value?.hops)} data-testid="footer-age">
        {cells.flow.value?.isCatchingUp
          ? words.state.lagging
          : `${words.age} ${age === undefined ? unknown : formatAge(age)}`}
      </span>
      <span title={words.rateTip}>
        {rate === undefined ? `${words.rate} ${unknown}` : `${formatRough(rate)}${words.rateUnit}`}
      </span>
      <span
        class={toneOfLoss(cells)}
        title={counts ? words.lossTip(began === undefined ? '' : formatInstant(began)) : words.lossUnknown}
        data-testid="footer-missing"
      >
        {counts ? formatInteger(counts.missing) : unknown} {words.missingShort}
      </span>
      {notHere > 0 && (
        <span
          class="is-warn"
          title={words.notHereTip(formatInteger(notHere), formatInstant(since))}
          data-testid="footer-not-here"
        >
          {words.notHere(formatInteger(notHere))}
        </span>
      )}
      {keptBack > 0 && (
        <span title={words.keptBackTip} data-testid="footer-kept-back">
          {words.keptBack(formatInteger(keptBack))}
        </span>
      )}
    </span>
  );
}

/** Returns the time that the newest sample spent in each hop. */
function hopsTip(hops: HopTimes | undefined): string {
  if (!hops) return words.ageTip;
  const times = [hops.inNode, hops.toDac, hops.toBrowser].map((time) => formatAge(Math.max(0, time)));
  return `${words.ageTip}\n${words.hops(times[0], times[1], times[2])}`;
}
