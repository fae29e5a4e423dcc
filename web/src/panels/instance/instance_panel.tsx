import type { SpecOf } from '../../state/panel_kinds.ts';
import { Card } from './card.tsx';

/** Everything about one instance. */
export function InstancePanel({ spec }: { spec: SpecOf<'instance'> }) {
  return <Card target={spec.target} />;
}
