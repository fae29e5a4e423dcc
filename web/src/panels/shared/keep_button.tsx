import { parseKnown } from '../../expressions/resolve.ts';
import { deriveRule } from '../../rules/derive.ts';
import { begin, isChanged } from '../../rules/draft.ts';
import { judge } from '../../state/expressions.ts';
import { openSingle } from '../../state/panels.ts';
import { entryOf } from '../../state/registry.ts';
import { ruleStrings } from '../../strings/rules.ts';

const words = ruleStrings.rules;

/** Makes a rule of an expression, which the DAC then computes itself, and opens the editor of rules with it. */
export function KeepButton({ text, onKept }: { text: string; onKept: () => void }) {
  const judged = judge(text);
  const syntax = judged.state === 'ready' ? parseKnown(judged.text) : undefined;
  const derived = syntax && deriveRule(syntax, text, (target) => entryOf(target)?.type);
  const problem = isChanged.value ? words.unsavedFirst : derived?.state === 'failed' ? derived.problem : '';
  return (
    <button
      type="button"
      class="button"
      disabled={derived?.state !== 'ready' || problem !== ''}
      title={problem || words.keepTip}
      data-testid="expression-keep"
      onClick={() => {
        if (derived?.state !== 'ready') return;
        begin(`${derived.name}.rules`, derived.text);
        onKept();
        openSingle('rules');
      }}
    >
      {words.keep}
    </button>
  );
}
