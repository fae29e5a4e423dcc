import { useSignal } from '@preact/signals';
import { strings } from '../strings/strings.ts';

/** A button that asks once more before it acts. */
export function SureButton(props: {
  label: string;
  /** The label of the button that acts. */
  sure: string;
  testId: string;
  isQuiet?: boolean;
  onSure: () => void;
}) {
  const isAsking = useSignal(false);
  const { label, sure, testId, isQuiet = true } = props;
  if (!isAsking.value) {
    return (
      <button
        type="button"
        class={isQuiet ? 'button button-quiet' : 'button'}
        data-testid={testId}
        onClick={() => {
          isAsking.value = true;
        }}
      >
        {label}
      </button>
    );
  }
  return (
    <>
      <button
        type="button"
        class="button button-danger"
        data-testid={`${testId}-sure`}
        onClick={() => {
          isAsking.value = false;
          props.onSure();
        }}
      >
        {sure}
      </button>
      <button
        type="button"
        class="button button-quiet"
        onClick={() => {
          isAsking.value = false;
        }}
      >
        {strings.accounts.cancel}
      </button>
    </>
  );
}
