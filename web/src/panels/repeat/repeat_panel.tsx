import { computed, useComputed, useSignal } from '@preact/signals';
import { useContext, useEffect, useMemo, useRef } from 'preact/hooks';
import { InnerPanel } from '../../components/inner_panel.ts';
import { NameText } from '../../components/name_text.tsx';
import { useVisible, Visible } from '../../components/visible.ts';
import { formatInteger } from '../../format/number.ts';
import { watch } from '../../state/actions.ts';
import { labelsOf } from '../../state/labels.ts';
import { isViewOnly } from '../../state/mode.ts';
import { nameOf } from '../../state/names.ts';
import { type PanelContent, type PanelSpec, type SpecOf, targetsOf } from '../../state/panel_kinds.ts';
import { borrow, changePanel } from '../../state/panels.ts';
import { registry } from '../../state/registry.ts';
import { sameComputed } from '../../state/same_computed.ts';
import { visible } from '../../text/visible.ts';
import { keyOf, type Target } from '../../wire/target.ts';
import { panelFor, type RepeatSettings } from '../shared/repeated.ts';
import { MAX_REPEATED_PANELS, matching } from './matches.ts';
import './repeat.css';
import { repeatStrings as words } from './strings.ts';

type Spec = SpecOf<'repeat'>;

/** A panel for each instance that matches, with a bound and in groups by node. */
export function RepeatPanel({ spec }: { spec: Spec }) {
  const { nodes, instances, types, labels, panel } = spec;
  const found = useMemo(() => {
    const all = computed(() =>
      matching(registry.value?.instances ?? [], { nodes, instances, types, labels }, labelsOf),
    );
    return {
      // The registry changes with each state of a node; the panels stay while the names are the same.
      shown: sameComputed(() =>
        all.value.slice(0, MAX_REPEATED_PANELS).map(({ node, instance }) => ({ node, instance })),
      ),
      count: sameComputed(() => all.value.length),
    };
  }, [nodes, instances, types, labels]);
  const shown = found.shown.value;
  const count = found.count.value;
  const [first] = targetsOf(panel);
  useBorrowed(spec.id, panel, shown);
  const groups = groupsOf(shown);
  const cells = (targets: readonly Target[]) => (
    <div class={`repeat-grid is-${panel.kind}`}>
      {targets.map((target) => (
        <Cell key={keyOf(target)} outer={spec.id} panel={panel} first={first} target={target} />
      ))}
    </div>
  );
  return (
    <section class="panel repeat-panel" data-testid="repeat" data-panel={spec.id}>
      <Bar spec={spec} shown={shown.length} count={count} />
      <div class="repeat-cells">
        {shown.length === 0 && <p class="panel-empty">{words.none}</p>}
        {groups.length > 1
          ? groups.map(([node, targets]) => (
              <Group key={node} spec={spec} node={node} count={targets.length}>
                {cells(targets)}
              </Group>
            ))
          : shown.length > 0 && cells(shown)}
      </div>
    </section>
  );
}

/** Reads the instances of all panels as long as they are there. */
function useBorrowed(id: string, panel: PanelContent, shown: readonly Target[]): void {
  const release = useRef<(() => void) | undefined>(undefined);
  useEffect(() => {
    const [first] = targetsOf(panel);
    const targets = shown.flatMap((target) => targetsOf(panelFor(panel, first, target)));
    const before = release.current;
    release.current = borrow(`repeat ${id}`, targets);
    // Released first, all instances would lose their cells, and the open panels would keep the old ones.
    before?.();
  }, [shown, panel, id]);
  useEffect(() => () => release.current?.(), []);
}

/** The instances of each node; one group if no node has several. */
function groupsOf(targets: readonly Target[]): [string, Target[]][] {
  const byNode = new Map<string, Target[]>();
  for (const target of targets) byNode.set(target.node, [...(byNode.get(target.node) ?? []), target]);
  return byNode.size === targets.length ? [] : [...byNode];
}

function Group(props: { spec: Spec; node: string; count: number; children: preact.ComponentChildren }) {
  const { spec, node, count, children } = props;
  const { folded = [], ...rest } = spec;
  const isOpen = !folded.includes(node);
  return (
    <details
      class="repeat-group"
      data-testid="repeat-group"
      open={isOpen}
      onToggle={(event) => {
        const { open } = event.currentTarget;
        if (open === isOpen) return;
        const next = open ? folded.filter((other) => other !== node) : [...folded, node];
        changePanel(spec.id, { ...rest, ...(next.length > 0 && { folded: next }) });
      }}
    >
      <summary>
        <NameText name={words.group(visible(node), count)} />
      </summary>
      {isOpen && children}
    </details>
  );
}

interface CellProps {
  readonly outer: string;
  readonly panel: PanelContent;
  readonly first: Target;
  readonly target: Target;
}

/** A panel asks for nothing while it is out of sight. */
function Cell({ outer, panel, first, target }: CellProps) {
  const place = useRef<HTMLElement>(null);
  const isInSight = useSignal(false);
  const isOuterVisible = useVisible();
  const isVisible = useComputed(() => isOuterVisible.value && isInSight.value);
  const Inner = useContext(InnerPanel);
  const key = keyOf(target);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key has the names of the target
  const spec = useMemo(
    () => ({ ...panelFor(panel, first, target), id: `${outer}/${key}` }) as PanelSpec,
    [panel, first, key, outer],
  );
  useEffect(() => {
    if (!place.current) return;
    const observer = new IntersectionObserver((entries) => {
      isInSight.value = entries.at(-1)?.isIntersecting ?? false;
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [isInSight]);
  const name = visible(nameOf(target));
  return (
    <section class="repeat-cell" aria-label={name} data-testid="repeat-cell" ref={place}>
      <h3>
        <button type="button" title={words.open(name)} onClick={() => watch(target)}>
          <NameText name={name} />
        </button>
      </h3>
      <div class="repeat-body">
        <Visible.Provider value={isVisible}>
          <Inner spec={spec} />
        </Visible.Provider>
      </div>
    </section>
  );
}

/** How many there are, and which they are. */
function Bar({ spec, shown, count }: { spec: Spec; shown: number; count: number }) {
  const isOpen = useSignal(false);
  const change = (changed: Partial<RepeatSettings>) => changePanel(spec.id, { ...spec, ...changed });
  const left = count - shown;
  return (
    <>
      <div class="repeat-bar">
        <span role="status" class={left > 0 ? 'is-warn' : ''} data-testid="repeat-count">
          {left > 0 ? words.cut(shown, formatInteger(count), formatInteger(left)) : words.count(shown)}
        </span>
        {!isViewOnly && (
          <>
            <button
              type="button"
              class="button"
              title={words.chooseTip}
              aria-expanded={isOpen.value}
              data-testid="repeat-choose"
              onClick={() => {
                isOpen.value = !isOpen.value;
              }}
            >
              {words.choose}
            </button>
            <button
              type="button"
              class="button button-quiet"
              title={words.oneTip}
              data-testid="repeat-one"
              onClick={() => changePanel(spec.id, spec.panel)}
            >
              {words.one}
            </button>
          </>
        )}
      </div>
      {isOpen.value && (
        <div class="repeat-choice" data-testid="repeat-choice">
          {(['nodes', 'instances', 'types', 'labels'] as const).map((part) => (
            <PatternField key={part} part={part} spec={spec} onChange={change} />
          ))}
        </div>
      )}
    </>
  );
}

/** Applies what was typed with Enter, or when the focus leaves. */
function PatternField(props: {
  part: 'nodes' | 'instances' | 'types' | 'labels';
  spec: Spec;
  onChange: (changed: Partial<RepeatSettings>) => void;
}) {
  const { part, spec, onChange } = props;
  const any = part === 'labels' ? '' : '*';
  const value = spec[part];
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current && input.current.value !== value) input.current.value = value;
  }, [value]);
  return (
    <label class="repeat-field">
      <span>{words.fields[part]}</span>
      <input
        class="input"
        type="text"
        maxLength={200}
        title={part === 'labels' ? words.labelsTip : words.patternTip}
        data-testid={`repeat-${part}`}
        defaultValue={value}
        spellcheck={false}
        ref={input}
        onChange={(event) => {
          const wanted = event.currentTarget.value.trim() || any;
          // A value that stays the same is not drawn again.
          event.currentTarget.value = wanted;
          onChange({ [part]: wanted });
        }}
      />
    </label>
  );
}
