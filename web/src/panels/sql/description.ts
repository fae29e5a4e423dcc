import { lazy } from '../../components/lazy.tsx';
import { describePanel } from '../shared/description.ts';
import { flag, present } from '../shared/parse.ts';
import { MAX_SQL, SQL_PERIODS } from './limits.ts';

declare module '../../state/panel_kinds.ts' {
  interface PanelContents {
    /** The answer of a query over the archive, as a table or a drawing. */
    readonly sql: {
      readonly query: string;
      readonly isDrawn?: boolean;
      /** Seconds between two runs; by hand without. */
      readonly every?: number;
    };
  }
}

export const sql = describePanel<'sql'>({
  kind: 'sql',
  name: 'SQL',
  Panel: lazy(async () => (await import('./sql_panel.tsx')).SqlPanel),
  parse(json) {
    if (typeof json.query !== 'string') return undefined;
    const every = SQL_PERIODS.find((seconds) => seconds > 0 && seconds === json.every);
    const query = json.query.slice(0, MAX_SQL);
    return { kind: 'sql', query, ...flag('isDrawn', json.isDrawn), ...present('every', every) };
  },
  targets: () => [],
  title: ({ query }) => commentOf(query) ?? 'SQL',
  choices: [
    {
      name: 'sql',
      label: 'SQL',
      about: 'The answer of a query over the archive, as a table or a chart.',
      from: 'nothing',
      build: () => ({ kind: 'sql', query: '' }),
    },
  ],
});

/** The comment that a query begins with; undefined without one. */
function commentOf(query: string): string | undefined {
  const comment = /^\s*--\s*(.{1,40})/.exec(query)?.[1].trim();
  return comment === '' ? undefined : comment;
}
