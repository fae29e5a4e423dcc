import { useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { hideView, showView } from '../state/actions.ts';
import type { Query, ViewResult } from '../stream/query.ts';
import { useVisible } from './visible.ts';

/**
 * Sends the query of a panel to the worker while the panel is visible. `query` may read signals; each answer goes to `apply`,
 * which draws it, past the components: they are for what changes seldom.
 */
export function useView(query: () => Query | undefined, apply: (result: ViewResult) => void): void {
  const isVisible = useVisible();
  const latest = useRef({ query, apply });
  latest.current = { query, apply };
  useSignalEffect(() => {
    const wanted = isVisible.value ? latest.current.query() : undefined;
    if (!wanted) return;
    const id = showView(wanted, (result) => latest.current.apply(result));
    return () => hideView(id);
  });
}
