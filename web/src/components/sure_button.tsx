import { useSignal } from '@preact/signals';
import { strings } from '../strings.ts';

const words = strings.accounts;

/** A button that asks once more before it acts. */
export function SureButton(props: { label: string; what: string; testId: string; onSure: () => void }) {
  const isAsking = useSignal(false);
  if (!isAsking.value) {
    return (
      <button
        type="button"
        class="button button-quiet"
        data-testid={props.testId}
        onClick={() => {
          isAsking.value = true;
        }}
      >
        {props.label}
      </button>
    );
  }
  return (
    <>
      <button
        type="button"
        class="button button-danger"
        data-testid={`${props.testId}-sure`}
        onClick={() => {
          isAsking.value = false;
          props.onSure();
        }}
      >
        {words.sure(props.what)}
      </button>
      <button
        type="button"
        class="button button-quiet"
        onClick={() => {
          isAsking.value = false;
        }}
      >
        {words.cancel}
      </button>
    </>
  );
}
