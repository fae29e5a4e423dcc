import type { Answer, ViewResult } from '../stream/query.ts';

/** Views that have not shown the whole present time yet: without an answer, or while the archive is read. */
const awaited = new Set<number>();

export function awaitView(id: number): void {
  awaited.add(id);
}

export function viewAnswered({ id, answer }: ViewResult): void {
  if (!isReading(answer)) awaited.delete(id);
}

export function forgetView(id: number): void {
  awaited.delete(id);
}

/** Whether all views show the present time. */
export function areViewsReady(): boolean {
  return awaited.size === 0;
}

function isReading(answer: Answer): boolean {
  switch (answer.kind) {
    case 'columns':
      return answer.blocks.some(({ past }) => past?.state === 'reading');
    case 'frame':
    case 'moment':
      return answer.state === 'reading';
    case 'extent':
    case 'fleet':
    case 'values':
      return false;
    default:
      return answer.past?.state === 'reading';
  }
}
