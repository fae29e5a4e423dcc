import type { Schema } from '@oasis/wire';
import type { PanelContent } from '../../state/panel_kinds.ts';
import type { Target } from '../../wire/target.ts';
import type { PanelChoice, SchemaOf } from './description.ts';

/** A metric of an instance that somebody has ticked; without one, all of the instance. */
export interface Pick {
  readonly target: Target;
  readonly metric: string | undefined;
}

/** Whether a choice can show instances of a type. */
export function suits(choice: PanelChoice, schema: Schema | undefined): boolean {
  if (choice.from === 'instances') return choice.suits?.(schema) ?? true;
  return choice.from === 'metrics' && (schema?.metrics.some(choice.fits) ?? false);
}

/** Returns the panels of a choice; none while something is missing for it. */
export function buildPanels(
  choice: PanelChoice,
  given: { readonly picks?: readonly Pick[]; readonly expressions?: readonly string[] },
  schemaOf: SchemaOf,
): readonly PanelContent[] {
  const { picks = [], expressions = [] } = given;
  switch (choice.from) {
    case 'nothing':
      return [choice.build()];
    case 'expressions':
      return expressions.length === choice.count ? [choice.build(expressions)] : [];
    case 'instances':
      return choice.build(
        picks.map(({ target }) => target),
        schemaOf,
      );
    case 'metrics': {
      const metrics = picks.flatMap(({ target, metric }) =>
        metric === undefined ? [] : [{ target, metric }],
      );
      return metrics.length === 0 ? [] : choice.build(metrics, schemaOf);
    }
  }
}
