import { useSignal } from '@preact/signals';
import { useAttempt } from '../components/use_attempt.ts';
import { useUniqueId } from '../components/use_unique_id.ts';
import { formatInstant } from '../format/time.ts';
import { arrival } from '../state/arrival.ts';
import { openDialog } from '../state/dialogs.ts';
import { addressProblem, keepFragment, mustSignIn, signIn, signOut, who } from '../state/session.ts';
import { strings } from '../strings/strings.ts';

const words = strings.session;

/** A form over the page, while the DAC shows it nothing. */
export function SignIn() {
  const [name, password] = [useSignal(''), useSignal('')];
  const [nameField, passwordField] = [useUniqueId(), useUniqueId()];
  const { problem, attempt } = useAttempt();
  if (!mustSignIn.value) return null;
  return (
    <section class="sign-in" aria-label={words.title} data-testid="sign-in">
      <form
        class="sign-in-form"
        onSubmit={(event) => {
          event.preventDefault();
          attempt(() => signIn(name.value, password.value));
        }}
      >
        <h2>{words.title}</h2>
        {arrival.value && (
          <p class="hint" data-testid="sign-in-arrival">
            {strings.goingOn.went(arrival.value.from, location.host, formatInstant(arrival.value.at))}
          </p>
        )}
        <p class="hint">{who.value?.kind === 'person' ? words.noRights(who.value.name) : words.why}</p>
        <label for={nameField}>{words.name}</label>
        <input
          id={nameField}
          class="input"
          type="text"
          autoComplete="username"
          data-testid="sign-in-name"
          value={name.value}
          onInput={(event) => {
            name.value = event.currentTarget.value;
          }}
        />
        <label for={passwordField}>{words.password}</label>
        <input
          id={passwordField}
          class="input"
          type="password"
          autoComplete="current-password"
          data-testid="sign-in-password"
          value={password.value}
          onInput={(event) => {
            password.value = event.currentTarget.value;
          }}
        />
        <button type="submit" class="button button-main" data-testid="sign-in-submit">
          {words.signIn}
        </button>
        {who.value?.provider !== undefined && (
          <a
            class="button sign-in-provider"
            href="sign-in/oidc"
            data-testid="sign-in-provider"
            onClick={keepFragment}
          >
            {who.value.provider}
          </a>
        )}
        <p class="form-problem" role="alert" data-testid="sign-in-problem">
          {problem.value || addressProblem.value}
        </p>
        <p class="hint">{words.byLink}</p>
      </form>
    </section>
  );
}

/** Who has signed in, and a button to sign out; nothing for others. */
export function SignedIn() {
  const { problem, attempt } = useAttempt();
  const person = who.value;
  if (person?.kind !== 'person') return null;
  return (
    <>
      <button
        type="button"
        class="button button-quiet"
        data-testid="change-password"
        onClick={() => {
          openDialog.value = 'password';
        }}
      >
        {strings.accounts.password}
      </button>
      <button
        type="button"
        class="button button-quiet"
        title={problem.value || words.signOut}
        data-testid="sign-out"
        onClick={() => attempt(signOut)}
      >
        {words.signedIn(person.name)}
      </button>
    </>
  );
}
