import type { Target } from '../wire/target.ts';

/** The watched instances as the fragment of an address. */

const WATCH = '#watch=';

export function encodeTargets(targets: readonly Target[]): string {
  const parts = targets.map(
    ({ node, instance }) => `${encodeURIComponent(node)}/${encodeURIComponent(instance)}`,
  );
  return WATCH + parts.join(',');
}

/** Returns undefined if the text has no list of instances; an empty list if none is watched. */
export function decodeTargets(text: string): Target[] | undefined {
  if (!text.startsWith(WATCH)) return undefined;
  const targets: Target[] = [];
  for (const part of text.slice(WATCH.length).split(',')) {
    const [node, instance] = part.split('/');
    if (!node || !instance) continue;
    try {
      targets.push({ node: decodeURIComponent(node), instance: decodeURIComponent(instance) });
    } catch {
      // A mistyped address: the rest of it may be right.
    }
  }
  return targets;
}
