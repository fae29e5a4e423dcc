import { keyOf, type Target } from '../wire/target.ts';
import { expressionStrings } from './strings.ts';
import { mapReferences, parseExpression, referencesIn, type Syntax } from './syntax.ts';
import { ExpressionError, quoteName } from './tokens.ts';

const words = expressionStrings.expressions;

/** Nodes that a message names at most. */
const NAMED = 3;

/** Adds the node to each reference without one. Throws an {@link ExpressionError} if none or several nodes have the instance. */
export function resolve(syntax: Syntax, instances: readonly Target[]): Syntax {
  return mapReferences(syntax, (reference) => {
    const { node, instance } = reference;
    const found = instances.filter((entry) => entry.instance === instance);
    if (node !== undefined) {
      if (!found.some((entry) => entry.node === node))
        throw new ExpressionError(words.unknownInstance(`${node}/${instance}`));
      return reference;
    }
    if (found.length === 0) throw new ExpressionError(words.unknownInstance(instance));
    if (found.length > 1) {
      const written = ({ node }: Target) => `${quoteName(node)}/${quoteName(instance)}`;
      const choices = found.slice(0, NAMED).map(written);
      throw new ExpressionError(words.ambiguous(instance, choices.join(' or '), found.length > NAMED));
    }
    return { ...reference, node: found[0].node };
  });
}

const parsed = new Map<string, Syntax | undefined>();
const MAX_PARSED = 200;

/** Parses an expression of a layout, once; undefined if it is none. */
export function parseKnown(text: string): Syntax | undefined {
  if (!parsed.has(text)) {
    // A page has a few expressions; a hostile layout must not fill the memory. The oldest is the first.
    for (const oldest of parsed.keys()) {
      if (parsed.size < MAX_PARSED) break;
      parsed.delete(oldest);
    }
    parsed.set(text, parsedOrNot(text));
  }
  return parsed.get(text);
}

function parsedOrNot(text: string): Syntax | undefined {
  try {
    const syntax = parseExpression(text);
    return referencesIn(syntax).every(({ node }) => node !== undefined) ? syntax : undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

/** Returns the instances of an expression of a layout. */
export function targetsIn(text: string): Target[] {
  const syntax = parseKnown(text);
  const found = new Map<string, Target>();
  for (const { node = '', instance } of syntax ? referencesIn(syntax) : [])
    found.set(keyOf({ node, instance }), { node, instance });
  return [...found.values()];
}
