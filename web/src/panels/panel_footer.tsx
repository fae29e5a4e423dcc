import { formatInteger, formatRough } from '../format/number.ts';
import { formatAge } from '../format/time.ts';
import { ageOf } from '../state/freshness.ts';
import { cellsOf } from '../state/store.ts';
import { keyOf, type Target } from '../stream/view.ts';
import { strings } from '../strings.ts';
import { type PanelContent, targetsOf } from './spec.ts';

const words = strings.card;
const { unknown } = strings.connection;

/** How far what a panel shows can be trusted: age of the newest sample, rate, what is missing. */
export function PanelFooter({ spec }: { spec: PanelContent }) {
  const targets = [...new Map(targetsOf(spec).map((target) => [keyOf(target), target])).values()];
  return (
    <div class="panel-footer" data-testid="panel-footer">
      {targets.map((target) => (
        <Trust key={keyOf(target)} target={target} isNamed={targets.length > 1} />
      ))}
    </div>
  );
}

function Trust({ target, isNamed }: { target: Target; isNamed: boolean }) {
  const cells = cellsOf(target);
  const age = ageOf(cells);
  const rate = cells.flow.value?.rate;
  const missing = cells.loss.value?.missing ?? 0;
  const unexplained = cells.loss.value?.unexplained ?? 0;
  const tone = unexplained > 0 ? 'is-bad' : missing > 0 ? 'is-warn' : '';
  return (
    <span class="trust">
      <span class="trust-name" title={target.node}>
        {isNamed ? `${target.instance}:` : target.node}
      </span>
      <span title={words.ageTip} data-testid="footer-age">
        {words.age} {age === undefined ? unknown : formatAge(age)}
      </span>
      <span title={words.rateTip}>
        {rate === undefined ? unknown : formatRough(rate)}
        {words.rateUnit}
      </span>
      <span class={tone} title={words.lossTip} data-testid="footer-missing">
        {formatInteger(missing)} {words.missingShort}
      </span>
    </span>
  );
}
