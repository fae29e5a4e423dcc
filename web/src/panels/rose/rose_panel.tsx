import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { PastNote } from '../../components/past_note.tsx';
import { useView } from '../../components/use_view.ts';
import { formatQuantity } from '../../format/axis.ts';
import { formatUnit } from '../../format/unit.ts';
import { type Rose, SECTORS } from '../../series/rose.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { cellsOf } from '../../state/store.ts';
import { range } from '../../state/time.ts';
import type { PastPart } from '../../stream/query.ts';
import { strings } from '../../strings/strings.ts';
import { type LegendEntry, registerPicture } from '../shared/exports.ts';
import { PanelFooter } from '../shared/panel_footer.tsx';

type Spec = SpecOf<'rose'>;

const RADIUS = 82;
const words = strings.rose;

/** A wind rose: frequency and speed by direction over the shown range. */
export function RosePanel({ spec }: { spec: Spec }) {
  const drawing = useRef<SVGSVGElement>(null);
  const found = useSignal<Rose | undefined>(undefined);
  const past = useSignal<PastPart | undefined>(undefined);
  const classes = useRef<HTMLUListElement>(null);
  useEffect(
    () => registerPicture(spec.id, { svg: () => drawing.current, legend: () => legendOf(classes.current) }),
    [spec.id],
  );
  useView(
    () => ({
      kind: 'rose',
      range: range.value,
      target: spec.target,
      direction: spec.direction,
      speed: spec.speed,
    }),
    ({ answer }) => {
      if (answer.kind !== 'rose') return;
      found.value = answer.rose;
      past.value = answer.past;
    },
  );
  const rose = found.value;
  const unit = cellsOf(spec.target).status.value?.schema?.metrics.find(
    ({ name }) => name === spec.speed,
  )?.unit;
  return (
    <section class="panel" data-testid="rose" data-panel={spec.id}>
      {rose ? (
        <div class="rose">
          <Drawing rose={rose} unit={unit} drawing={drawing} />
          <Classes rose={rose} unit={unit} list={classes} />
        </div>
      ) : (
        <p class="panel-empty">{words.empty}</p>
      )}
      <PanelFooter spec={spec}>
        <PastNote past={past.value} />
      </PanelFooter>
    </section>
  );
}

function Drawing(props: {
  rose: Rose;
  unit: string | undefined;
  drawing: { readonly current: SVGSVGElement | null };
}) {
  const { rose, unit } = props;
  const totals = rose.sectors.map((classes) => classes.reduce((sum, count) => sum + count, 0));
  const most = Math.max(1, ...totals);
  const now = `${Math.round(rose.direction)}\u00b0, ${formatQuantity(rose.speed, unit, false)}`;
  const label = range.value.live ? words.now(now) : words.atEnd(now);
  return (
    <svg class="rose-drawing" viewBox="-110 -110 220 220" ref={props.drawing} role="img" aria-label={label}>
      <title>{label}</title>
      {[0.25, 0.5, 0.75, 1].map((share) => (
        <circle key={share} class="rose-ring" r={RADIUS * Math.sqrt(share)} />
      ))}
      {rose.sectors.map((classes, sector) => {
        let below = 0;
        return classes.map((count, kind) => {
          const from = below;
          below += count;
          if (count === 0) return null;
          return (
            <path
              key={`${sector} ${kind}`}
              class={`rose-petal wind-${kind}`}
              d={petal(sector, radius(from, most), radius(below, most))}
            />
          );
        });
      })}
      {words.points.map((point, index) => {
        const angle = (index * Math.PI) / 2;
        return (
          <text key={point} class="rose-point" x={98 * Math.sin(angle)} y={-98 * Math.cos(angle)}>
            {point}
          </text>
        );
      })}
      <path class="rose-needle" d="M0 -70L6 -88L0 -84L-6 -88Z" transform={`rotate(${rose.direction})`} />
    </svg>
  );
}

/** Returns the names of the classes and the colors that the style sheet gives them. */
function legendOf(list: HTMLUListElement | null): LegendEntry[] {
  return [...(list?.children ?? [])].map((entry) => ({
    name: entry.textContent ?? '',
    color: entry.firstElementChild ? getComputedStyle(entry.firstElementChild).backgroundColor : 'none',
  }));
}

function Classes(props: {
  rose: Rose;
  unit: string | undefined;
  list: { readonly current: HTMLUListElement | null };
}) {
  const { rose, unit } = props;
  const speed = (bound: number | undefined) => [bound, formatUnit(unit)].filter(Boolean).join('\u202f');
  return (
    <div class="rose-side">
      <p class="rose-now" data-testid="rose-now">
        {Math.round(rose.direction)}
        {'\u00b0'} {formatQuantity(rose.speed, unit, false)}
      </p>
      <ul class="rose-classes" ref={props.list} data-testid="rose-classes">
        {[...rose.bounds, Number.POSITIVE_INFINITY].map((bound, kind) => (
          <li key={bound}>
            <span class={`rose-mark wind-${kind}`} aria-hidden="true" />
            {Number.isFinite(bound) ? words.below(speed(bound)) : words.above(speed(rose.bounds.at(-1)))}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The eye compares areas, not lengths. */
function radius(count: number, most: number): number {
  return RADIUS * Math.sqrt(count / most);
}

function petal(sector: number, inner: number, outer: number): string {
  const half = Math.PI / SECTORS - 0.03;
  const middle = (2 * Math.PI * sector) / SECTORS;
  const point = (size: number, angle: number) =>
    `${(size * Math.sin(angle)).toFixed(2)} ${(-size * Math.cos(angle)).toFixed(2)}`;
  const [left, right] = [middle - half, middle + half];
  return `M${point(inner, left)}L${point(outer, left)}A${outer} ${outer} 0 0 1 ${point(outer, right)}L${point(inner, right)}A${inner} ${inner} 0 0 0 ${point(inner, left)}Z`;
}
