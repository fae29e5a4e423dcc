import { useSignal } from '@preact/signals';
import { SureButton } from '../components/sure_button.tsx';
import {
  addUser,
  endSessions,
  removeUser,
  setPassword,
  setRoles,
  type User,
  users,
} from '../state/accounts.ts';
import { strings } from '../strings/strings.ts';
import { RoleChoice } from './role_choice.tsx';
import { TextField } from './text_field.tsx';

const words = strings.accounts;

type Attempt = (act: () => Promise<unknown>) => void;

/** Users, and those who have not signed in. */
export function UserAccounts({ attempt }: { attempt: Attempt }) {
  const [name, password] = [useSignal(''), useSignal('')];
  const chosen = useSignal<readonly string[]>(['viewer']);
  return (
    <>
      <ul class="account-list">
        {users.value.map((user) => (
          <UserLine key={user.name} user={user} attempt={attempt} />
        ))}
      </ul>
      <form
        class="account-form"
        aria-label={words.newUser}
        onSubmit={(event) => {
          event.preventDefault();
          attempt(async () => {
            await addUser(name.value.trim(), password.value, chosen.value);
            name.value = password.value = '';
          });
        }}
      >
        <h3>{words.newUser}</h3>
        <TextField label={words.name} value={name} testId="user-name" />
        <TextField
          label={words.password}
          value={password}
          type="password"
          autoComplete="new-password"
          hint={words.passwordHint}
          testId="user-password"
        />
        <RoleChoice
          chosen={chosen.value}
          testId="user-roles"
          onChange={(roles) => {
            chosen.value = roles;
          }}
        />
        <button type="submit" class="button button-main" data-testid="user-add">
          {words.add}
        </button>
      </form>
    </>
  );
}

function UserLine({ user, attempt }: { user: User; attempt: Attempt }) {
  const edited = useSignal<readonly string[] | undefined>(undefined);
  const password = useSignal<string | undefined>(undefined);
  const how = user.has_password ? words.byPassword : words.byProvider;
  return (
    <li class="account-line" data-testid="user-line" data-user={user.name}>
      <div class="account-head">
        <span class="account-name">{user.name}</span>
        <span class="account-fact">{user.roles.join(', ') || '\u2013'}</span>
        <span class="account-fact account-more">
          {user.is_account ? how : words.notSignedIn[user.name]}
          {user.sessions > 0 && `, ${words.sessions(user.sessions)}`}
        </span>
      </div>
      <div class="account-acts">
        <button
          type="button"
          class="button button-quiet"
          data-testid="user-edit"
          onClick={() => {
            edited.value = edited.value ? undefined : user.roles;
          }}
        >
          {words.roles}
        </button>
        {user.is_account && (
          <button
            type="button"
            class="button button-quiet"
            data-testid="user-set-password"
            onClick={() => {
              password.value = password.value === undefined ? '' : undefined;
            }}
          >
            {words.setPassword}
          </button>
        )}
        {user.sessions > 0 && (
          <button
            type="button"
            class="button button-quiet"
            data-testid="user-end-sessions"
            onClick={() => attempt(() => endSessions(user.name))}
          >
            {words.endSessions}
          </button>
        )}
        {user.is_account && (
          <SureButton
            label={words.remove}
            sure={words.sure(user.name)}
            testId="user-remove"
            onSure={() => attempt(() => removeUser(user.name))}
          />
        )}
      </div>
      {edited.value && (
        <form
          class="account-edit"
          onSubmit={(event) => {
            event.preventDefault();
            const roles = edited.value ?? [];
            attempt(async () => {
              await setRoles(user.name, roles);
              edited.value = undefined;
            });
          }}
        >
          <RoleChoice
            chosen={edited.value}
            testId="user-edit-roles"
            onChange={(roles) => {
              edited.value = roles;
            }}
          />
          <button type="submit" class="button button-main" data-testid="user-save-roles">
            {words.save}
          </button>
        </form>
      )}
      {password.value !== undefined && (
        <form
          class="account-edit row-form"
          onSubmit={(event) => {
            event.preventDefault();
            const fresh = password.value ?? '';
            attempt(async () => {
              await setPassword(user.name, fresh);
              password.value = undefined;
            });
          }}
        >
          <input
            class="input"
            type="password"
            autoComplete="new-password"
            aria-label={words.newPassword(user.name)}
            placeholder={words.newPassword(user.name)}
            data-testid="user-new-password"
            value={password.value}
            onInput={(event) => {
              password.value = event.currentTarget.value;
            }}
          />
          <button type="submit" class="button button-main">
            {words.save}
          </button>
        </form>
      )}
    </li>
  );
}
