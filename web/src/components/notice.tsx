import { notice } from '../state/notice.ts';

export function Notice() {
  return (
    <p class={notice.value === '' ? 'notice' : 'notice is-shown'} role="status" data-testid="notice">
      {notice.value}
    </p>
  );
}
