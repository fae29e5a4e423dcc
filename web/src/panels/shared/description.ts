import type { Metric, Schema } from '@oasis/wire';
import type { FunctionComponent } from 'preact';
import type { ContentOf, PanelContent, PanelKind, PanelLogic, SpecOf } from '../../state/panel_kinds.ts';
import type { Fields } from '../../wire/fields.ts';
import type { Target } from '../../wire/target.ts';

/** A kind of panel: how it is parsed, built, titled and drawn. Its help is the row of `name` in docs/reference/page.md. */
export interface PanelDescription<K extends PanelKind> extends PanelLogic<ContentOf<K>> {
  readonly kind: K;
  /** Parses untrusted content, without its invalid parts; undefined if nothing is left to show. */
  parse(json: Fields, parseContent: (json: unknown) => PanelContent | undefined): ContentOf<K> | undefined;
  /** Draws the panel. */
  readonly Panel: FunctionComponent<{ readonly spec: SpecOf<K> }>;
  /** Whether the panel continues when its content changes; other panels begin anew. */
  readonly isContinued?: boolean;
  /** The place where the dock opens the panel; beside charts of the same instances without. `main`: all of it. */
  readonly place?: 'row' | 'roomiest' | 'bottom' | 'main';
  /** Entries of the dialog that adds panels. */
  readonly choices?: readonly PanelChoice[];
}

/** A description whose kind is not known. */
export type AnyPanel = PanelDescription<PanelKind>;

/** Checks a description against its kind, and forgets the kind. */
export function describePanel<K extends PanelKind>(description: PanelDescription<K>): AnyPanel {
  return description as unknown as AnyPanel;
}

export interface Picked {
  readonly target: Target;
  readonly metric: string;
}

export type SchemaOf = (target: Target) => Schema | undefined;

/** An entry of the dialog that adds panels, and what somebody chooses for it. */
export type PanelChoice = {
  readonly name: string;
  readonly label: string;
  readonly about: string;
} & (
  | { readonly from: 'nothing'; build(): PanelContent }
  | {
      /** As many expressions are typed. */
      readonly from: 'expressions';
      readonly count: 1 | 2;
      build(expressions: readonly string[]): PanelContent;
    }
  | {
      readonly from: 'metrics';
      /** What instances must have, if not any metric will do. */
      readonly needs?: string;
      fits(metric: Metric): boolean;
      /** Returns the panels for metrics, of which there is at least one. */
      build(metrics: readonly Picked[], schemaOf: SchemaOf): readonly PanelContent[];
    }
  | {
      readonly from: 'instances';
      readonly needs?: string;
      /** Whether the panel can show instances of a type; all without. */
      suits?(schema: Schema | undefined): boolean;
      build(targets: readonly Target[], schemaOf: SchemaOf): readonly PanelContent[];
    }
);
