import type { SerializedDockview } from 'dockview-core';

/** Where the panels of a layout are, in the docking library's own format. */
export type Geometry = SerializedDockview;
