import { useSignal } from '@preact/signals';
import { Dialog } from '../components/dialog.tsx';
import { useAttempt } from '../components/use_attempt.ts';
import { changeOwnPassword } from '../state/accounts.ts';
import { strings } from '../strings/strings.ts';
import { TextField } from './text_field.tsx';

const words = strings.accounts;

/** Another password for the person who has signed in. */
export function PasswordDialog() {
  const [present, fresh, again] = [useSignal(''), useSignal(''), useSignal('')];
  const { problem, attempt } = useAttempt();
  return (
    <Dialog title={words.own} testId="password">
      <form
        class="account-form"
        onSubmit={(event) => {
          event.preventDefault();
          attempt(async () => {
            if (fresh.value !== again.value) throw new Error(words.different);
            await changeOwnPassword(present.value, fresh.value);
          });
        }}
      >
        <TextField
          label={words.present}
          value={present}
          type="password"
          autoComplete="current-password"
          testId="password-present"
        />
        <TextField
          label={words.fresh}
          value={fresh}
          type="password"
          autoComplete="new-password"
          testId="password-new"
        />
        <TextField
          label={words.again}
          value={again}
          type="password"
          autoComplete="new-password"
          hint={words.signsOut}
          testId="password-again"
        />
        <button type="submit" class="button button-main" data-testid="password-change">
          {words.change}
        </button>
        <p class="form-problem" role="alert" data-testid="password-problem">
          {problem.value}
        </p>
      </form>
    </Dialog>
  );
}
