import { isGoneListOpen } from '../state/away.ts';
import { isRuleListOpen } from '../state/tree.ts';
import { strings } from '../strings/strings.ts';

const words = strings.tree;

/** Expands and collapses the nodes that have been offline for long. */
export function TreeGone({ nodes, isOpen }: { nodes: number; isOpen: boolean }) {
  return (
    <Fold
      text={words.gone(nodes)}
      tip={words.goneTip}
      isOpen={isOpen}
      testId="gone-nodes"
      onToggle={() => {
        isGoneListOpen.value = !isOpen;
      }}
    />
  );
}

/** Expands and collapses the instances that the DAC computes by rules. */
export function TreeRules({ count, isOpen }: { count: number; isOpen: boolean }) {
  return (
    <Fold
      text={words.ofRules(count)}
      tip={words.ofRulesTip}
      isOpen={isOpen}
      testId="rule-instances"
      onToggle={() => {
        isRuleListOpen.value = !isOpen;
      }}
    />
  );
}

function Fold(props: { text: string; tip: string; isOpen: boolean; testId: string; onToggle: () => void }) {
  return (
    <button
      type="button"
      class="tree-gone"
      aria-expanded={props.isOpen}
      title={props.tip}
      data-testid={props.testId}
      onClick={props.onToggle}
    >
      <span class="tree-gone-sign" aria-hidden="true">
        {props.isOpen ? '\u25be' : '\u25b8'}
      </span>
      {props.text}
    </button>
  );
}
