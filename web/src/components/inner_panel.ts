import { createContext, type FunctionComponent } from 'preact';
import type { PanelSpec } from '../state/panel_kinds.ts';

/** Draws a panel within another one. The frame of panels sets it: it knows all kinds. */
export const InnerPanel = createContext<FunctionComponent<{ readonly spec: PanelSpec }>>(() => null);
