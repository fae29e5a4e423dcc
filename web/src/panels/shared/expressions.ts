import { parseKnown, targetsIn } from '../../expressions/resolve.ts';
import { formatReference } from '../../expressions/syntax.ts';
import type { Source } from '../../stream/query.ts';
import { valuesOf } from '../../wire/fields.ts';
import { keyOf, type Target } from '../../wire/target.ts';
import type { Picked } from './description.ts';

/** Most expressions in a panel. */
export const MAX_EXPRESSIONS = 10;

/** Lengths of the trail of a panel in seconds; 0 is all of the time shown. */
export const TRAILS: readonly number[] = [0, 2, 5, 10, 30, 60, 300];

/** The content of a panel that has expressions and nothing else to show. */
interface Computed {
  readonly expressions: readonly string[];
}

export function parseExpressions(json: unknown): string[] {
  return valuesOf(json)
    .slice(0, MAX_EXPRESSIONS)
    .flatMap((entry) => (typeof entry === 'string' && parseKnown(entry) ? entry : []));
}

export function parseTrail(json: unknown): number | undefined {
  return TRAILS.find((seconds) => seconds > 0 && seconds === json);
}

export function targetsOfExpressions({ expressions }: Computed): Target[] {
  return expressions.flatMap(targetsIn);
}

export function withoutExpressionsOf<C extends Computed>(content: C, key: string): C | undefined {
  const expressions = content.expressions.filter((text) => !usesTarget(text, key));
  return expressions.length === 0 ? undefined : { ...content, expressions };
}

export function usesTarget(text: string, key: string): boolean {
  return targetsIn(text).some((target) => keyOf(target) === key);
}

export function expressionOf({ target, metric }: Picked): string {
  return formatReference({ node: target.node, instance: target.instance, metric });
}

export function expressionsOf(metrics: readonly Picked[]): string[] {
  return metrics.slice(0, MAX_EXPRESSIONS).map(expressionOf);
}

export function sourcesOf(metrics: readonly Picked[]): Source[] {
  const found = new Map<string, { target: Target; metrics: string[] }>();
  for (const { target, metric } of metrics) {
    const source = found.get(keyOf(target));
    if (source) source.metrics.push(metric);
    else found.set(keyOf(target), { target, metrics: [metric] });
  }
  return [...found.values()];
}

export function withoutSource<S extends { readonly target: Target }>(
  sources: readonly S[],
  key: string,
): S[] {
  return sources.filter(({ target }) => keyOf(target) !== key);
}

/** Returns content without one of its instances; undefined if it has no other. */
export function withoutTarget<C extends { readonly targets: readonly Target[] }>(
  content: C,
  key: string,
): C | undefined {
  const targets = content.targets.filter((target) => keyOf(target) !== key);
  return targets.length === 0 ? undefined : { ...content, targets };
}
