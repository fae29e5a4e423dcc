import { Card } from '../components/card.tsx';
import type { Target } from '../stream/view.ts';

/** Everything about one instance. */
export function InstancePanel({ target }: { target: Target }) {
  return <Card target={target} />;
}
