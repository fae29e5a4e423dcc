import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Dialog } from '../components/dialog.tsx';
import { useAttempt } from '../components/use_attempt.ts';
import { readAccounts } from '../state/accounts.ts';
import { strings } from '../strings/strings.ts';
import { RoleAccounts } from './role_accounts.tsx';
import { TokenAccounts } from './token_accounts.tsx';
import { UserAccounts } from './user_accounts.tsx';

const words = strings.accounts;
const TABS = { users: UserAccounts, tokens: TokenAccounts, roles: RoleAccounts };
type Tab = keyof typeof TABS;

/** Users, tokens and roles, for administrators. */
export function AccountsDialog() {
  const tab = useSignal<Tab>('users');
  const { problem, attempt } = useAttempt();
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the dialog opens
  useEffect(() => attempt(readAccounts), []);
  const Content = TABS[tab.value];
  return (
    <Dialog title={words.title} testId="accounts">
      <div class="account-tabs" role="tablist">
        {(Object.keys(TABS) as Tab[]).map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            class={name === tab.value ? 'button button-main' : 'button'}
            aria-selected={name === tab.value}
            data-testid={`accounts-${name}`}
            onClick={() => {
              tab.value = name;
            }}
          >
            {words.tabs[name]}
          </button>
        ))}
      </div>
      <p class="form-problem" role="alert" data-testid="accounts-problem">
        {problem.value || '\u00a0'}
      </p>
      <Content attempt={attempt} />
    </Dialog>
  );
}
