import { IconButton } from '../../components/icon.tsx';
import type { PanelSpec } from '../../state/panel_kinds.ts';
import { strings } from '../../strings/strings.ts';
import { editExpression } from './expression_lines.tsx';
import type { DescribedLine } from './lines.ts';

const words = strings.expressions;

type Spec = Extract<PanelSpec, { readonly expressions?: readonly string[] }>;

/** The expressions of a panel with their colors, each with a button that changes it, and one that adds another. */
export function ExpressionNames(props: {
  spec: Spec;
  lines: readonly DescribedLine[];
  /** Names of the axes, where an expression has no color. */
  axes?: readonly string[];
  canAdd: boolean;
}) {
  const { spec, lines, axes, canAdd } = props;
  return (
    <ul class="legend" data-testid="legend">
      {lines.map((line, index) => (
        <li key={`${index} ${line.metric}`} class="legend-item">
          <span class="legend-line" title={line.doc} data-testid="legend-line">
            {axes ? (
              <span class="legend-axis">{axes[index]}</span>
            ) : (
              <span class={`legend-mark series-${line.color}`} aria-hidden="true" />
            )}
            <span class="legend-name">{line.label}</span>
          </span>
          <IconButton
            icon="pencil"
            label={words.change(line.label)}
            testId="expression-change"
            onClick={() => editExpression(spec, line.expression)}
          />
        </li>
      ))}
      {canAdd && (
        <li>
          <IconButton
            icon="formula"
            label={words.add}
            testId="expression-add"
            onClick={() => editExpression(spec, undefined)}
          />
        </li>
      )}
    </ul>
  );
}
