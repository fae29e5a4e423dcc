import { signal } from '@preact/signals';
import { checkExpression, isChecked } from '../expressions/check.ts';
import type { Plan } from '../expressions/plan.ts';
import { parseKnown, resolve } from '../expressions/resolve.ts';
import { formatExpression, mapReferences, parseExpression, type Syntax } from '../expressions/syntax.ts';
import { ExpressionError } from '../expressions/tokens.ts';
import { strings } from '../strings/strings.ts';
import { sharedNames } from './names.ts';
import { entryOf } from './registry.ts';
import { readSchemas } from './schemas.ts';
import { registry } from './store.ts';
import { schemaOfTarget } from './target_schema.ts';

const words = strings.expressions;

/** Whether an expression can be computed. Its text names the node of each instance. */
export type Judged =
  | { readonly state: 'ready'; readonly text: string; readonly plan: Plan; readonly unit: string | undefined }
  | { readonly state: 'waiting' | 'failed'; readonly problem: string };

/** The expression that is being typed into a panel: one of its own, or a new one. */
export const edited = signal<{ readonly panel: string; readonly index: number | undefined } | undefined>(
  undefined,
);

/** Judges what somebody has typed. Reads signals. */
export function judge(text: string): Judged {
  return judged(() => resolve(parseExpression(text), registry.value?.instances ?? []));
}

/** Judges an expression of a layout, whose instances may not be there yet. Reads signals. */
export function judgeKnown(text: string): Judged {
  return judged(() => parseKnown(text) ?? parseExpression(text));
}

function judged(syntaxOf: () => Syntax): Judged {
  try {
    const syntax = syntaxOf();
    const found = checkExpression(syntax, schemaOfTarget);
    if (isChecked(found)) return { state: 'ready', text: formatExpression(syntax), ...found };
    const entry = entryOf(found);
    // An instance that no panel shows has no schema yet.
    if (entry) void readSchemas([entry]);
    return { state: 'waiting', problem: words.waiting(found.instance) };
  } catch (error) {
    if (error instanceof ExpressionError) return { state: 'failed', problem: error.message };
    throw error;
  }
}

/** Names the nodes of an expression, so that a layout means the same elsewhere; the same text if that is not possible. */
export function withNodes(text: string): string {
  try {
    return formatExpression(resolve(parseExpression(text), registry.peek()?.instances ?? []));
  } catch (error) {
    if (error instanceof ExpressionError) return text;
    throw error;
  }
}

/** An expression for people: nodes only where several have an instance of that name. Reads signals. */
export function shortText(text: string): string {
  const syntax = parseKnown(text);
  if (!syntax) return text;
  const shared = sharedNames.value;
  return formatExpression(
    mapReferences(syntax, (reference) =>
      shared.has(reference.instance) ? reference : { ...reference, node: undefined },
    ),
  );
}

/** Plans of the expressions that can be computed, in their order. Reads signals. */
export function plansOf(texts: readonly string[]): Plan[] {
  return texts.flatMap((text) => {
    const found = judgeKnown(text);
    return found.state === 'ready' ? found.plan : [];
  });
}
