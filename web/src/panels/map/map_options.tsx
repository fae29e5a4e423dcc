import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { ExpressionField } from '../../components/expression_field.tsx';
import { IconButton } from '../../components/icon.tsx';
import { Choice } from '../../components/toggle.tsx';
import { formatInteger } from '../../format/number.ts';
import { formatWithin } from '../../format/tick_labels.ts';
import { formatSpan } from '../../format/time.ts';
import { isLine } from '../../series/metrics.ts';
import { judge, shortText } from '../../state/expressions.ts';
import { notify } from '../../state/notice.ts';
import type { SpecOf } from '../../state/panel_kinds.ts';
import { changePanel } from '../../state/panels.ts';
import { schemaOfTarget } from '../../state/target_schema.ts';
import { TRAILS } from '../shared/expressions.ts';
import { MAX_FILE, readGeoJson } from './geojson.ts';
import { parseShapes } from './shapes.ts';
import { mapStrings } from './strings.ts';
import { isTileAddress } from './tile_address.ts';
import { colorByMetric } from './tracks.ts';

type Spec = SpecOf<'map'>;

const words = mapStrings;
const NOBODY = -1;
const EXPRESSION = ' expression';

/** What a map shows, and how. */
export function MapOptions(props: {
  spec: Spec;
  names: readonly string[];
  /** Least and greatest value that the colors stand for. */
  values: readonly [number, number] | undefined;
  unit: string | undefined;
  onFit: () => void;
}) {
  const { spec, names, values, unit, onFit } = props;
  const isTyped = useSignal(false);
  const change = (changes: Changes) => changePanel(spec.id, compact({ ...spec, ...changes }));
  return (
    <>
      <div class="panel-options">
        <button type="button" class="button" title={words.fitTip} data-testid="map-fit" onClick={onFit}>
          {words.fit}
        </button>
        <Choice
          label={words.follow}
          value={spec.follow ?? NOBODY}
          values={[NOBODY, ...names.keys()]}
          nameOf={(index) => names[index] ?? words.nobody}
          testId="map-follow"
          onChange={(index) => change({ follow: index === NOBODY ? undefined : index })}
        />
        <Choice
          label={words.trail}
          value={spec.trail ?? 0}
          values={TRAILS}
          nameOf={(seconds) => (seconds === 0 ? words.whole : formatSpan(seconds * 1000))}
          testId="map-trail"
          onChange={(trail) => change({ trail: trail === 0 ? undefined : trail })}
        />
        <ColorChoice
          spec={spec}
          onChange={(color) => change({ color })}
          onType={() => {
            isTyped.value = true;
          }}
        />
        {values && (
          <span class="time-scale" title={words.colorBar} data-testid="map-values">
            <span>{formatWithin(values[0], values, unit)}</span>
            <span class="map-color-bar" aria-hidden="true" />
            <span>{formatWithin(values[1], values, unit)}</span>
          </span>
        )}
        <Ground spec={spec} change={change} />
      </div>
      {isTyped.value && (
        <ColorEditor
          spec={spec}
          onDone={(color) => change({ color })}
          onEnd={() => {
            isTyped.value = false;
          }}
        />
      )}
    </>
  );
}

type Changes = { readonly [K in keyof Spec]?: Spec[K] | undefined };

/** Without members that are undefined: layouts leave them out. */
function compact(spec: Changes & Pick<Spec, 'id' | 'kind' | 'tracks'>): Spec {
  return Object.fromEntries(
    Object.entries(spec).filter(([, value]) => value !== undefined),
  ) as unknown as Spec;
}

/** The metrics of the first track; any other expression is typed. */
function ColorChoice(props: {
  spec: Spec;
  onChange: (color: string | undefined) => void;
  onType: () => void;
}) {
  const { spec, onChange, onType } = props;
  const [{ target, latitude, longitude }] = spec.tracks;
  const metrics = (schemaOfTarget(target)?.metrics ?? []).filter(
    (metric) => isLine(metric) && metric.name !== latitude && metric.name !== longitude,
  );
  const byText = new Map(
    metrics.map(({ name, label }) => [colorByMetric(spec.tracks, name), label ?? name] as const),
  );
  const { color } = spec;
  const isOther = color !== undefined && !byText.has(color);
  return (
    <>
      <Choice
        label={words.color}
        value={color ?? ''}
        values={['', ...byText.keys(), ...(isOther ? [color] : []), EXPRESSION]}
        nameOf={(text) =>
          text === ''
            ? words.time
            : text === EXPRESSION
              ? words.expression
              : (byText.get(text) ?? shortText(text))
        }
        testId="map-color"
        onChange={(text) => (text === EXPRESSION ? onType() : onChange(text === '' ? undefined : text))}
      />
      {isOther && (
        <IconButton icon="pencil" label={words.changeColor} testId="map-color-change" onClick={onType} />
      )}
    </>
  );
}

function ColorEditor(props: { spec: Spec; onDone: (color: string) => void; onEnd: () => void }) {
  const { spec, onDone, onEnd } = props;
  const value = useSignal(spec.color === undefined ? '' : shortText(spec.color));
  const done = () => {
    const found = judge(value.peek());
    if (found.state !== 'ready') return;
    onEnd();
    onDone(found.text);
  };
  return (
    <div class="expression-editor">
      <ExpressionField value={value} isAutoFocused={true} onEnter={done} onEscape={onEnd} />
      <button
        type="button"
        class="button button-main"
        disabled={judge(value.value).state !== 'ready'}
        data-testid="expression-done"
        onClick={done}
      >
        {words.done}
      </button>
      <button type="button" class="button" onClick={onEnd}>
        {words.cancel}
      </button>
    </div>
  );
}

/** Shapes of files, and pictures of the ground. */
function Ground({ spec, change }: { spec: Spec; change: (changes: Changes) => void }) {
  const isOpen = useSignal(false);
  const count = spec.shapes?.length ?? 0;
  return (
    <>
      <button
        type="button"
        class="button button-quiet"
        aria-expanded={isOpen.value}
        data-testid="map-ground"
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        {words.ground}
      </button>
      {isOpen.value && (
        <div class="map-ground-options">
          <FileButton spec={spec} change={change} />
          {count > 0 && (
            <button
              type="button"
              class="button"
              data-testid="map-shapes-remove"
              onClick={() => change({ shapes: undefined })}
            >
              {words.remove(formatInteger(count), count === 1)}
            </button>
          )}
          <TilesField spec={spec} change={change} />
        </div>
      )}
    </>
  );
}

function FileButton({ spec, change }: { spec: Spec; change: (changes: Changes) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const add = async (file: File) => {
    // A file that is too large is not read.
    const read = file.size > MAX_FILE ? { problem: 'large' as const } : readGeoJson(await file.text());
    if ('problem' in read) {
      notify(words.notAdded(file.name, words.problems[read.problem]));
      return;
    }
    const all = [...(spec.shapes ?? []), ...read.shapes];
    const shapes = parseShapes(all);
    if (shapes?.length === all.length) {
      notify(words.loaded(file.name, formatInteger(read.shapes.length)));
      change({ shapes });
    } else notify(words.notAdded(file.name, words.problems.large));
  };
  return (
    <>
      <button type="button" class="button" onClick={() => field.current?.click()}>
        {words.load}
      </button>
      <input
        ref={field}
        type="file"
        hidden
        accept=".geojson,.json,application/geo+json"
        aria-label={words.load}
        data-testid="map-file"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          if (file) void add(file);
        }}
      />
    </>
  );
}

function TilesField({ spec, change }: { spec: Spec; change: (changes: Changes) => void }) {
  const problem = useSignal('');
  const save = (text: string) => {
    const isGood = text === '' || isTileAddress(text);
    problem.value = isGood ? '' : words.badTiles;
    if (isGood && text !== (spec.tiles ?? '')) change({ tiles: text === '' ? undefined : text });
  };
  return (
    <form
      class="map-tiles"
      onSubmit={(event) => {
        event.preventDefault();
        save(event.currentTarget.querySelector('input')?.value.trim() ?? '');
      }}
    >
      <label class="panel-toggle" title={words.tilesTip}>
        {words.tiles}
        <input
          class="input"
          type="text"
          defaultValue={spec.tiles ?? ''}
          placeholder={words.tilesExample}
          spellcheck={false}
          autoComplete="off"
          data-testid="map-tiles"
          onBlur={(event) => save(event.currentTarget.value.trim())}
        />
      </label>
      {problem.value !== '' && (
        <span class="is-bad" role="alert">
          {problem.value}
        </span>
      )}
    </form>
  );
}
