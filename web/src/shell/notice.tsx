import { notice } from '../state/notice.ts';

export function Notice() {
  return (
    <p class="notice" role="status" data-testid="notice">
      {notice.value}
    </p>
  );
}
