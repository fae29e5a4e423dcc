import { useSignal } from '@preact/signals';
import { SureButton } from '../components/sure_button.tsx';
import { useUniqueId } from '../components/use_unique_id.ts';
import { createToken, revokeToken, type Token, tokens, users } from '../state/accounts.ts';
import { copyText } from '../state/copy.ts';
import { strings } from '../strings/strings.ts';
import { RoleChoice } from './role_choice.tsx';
import { TextField } from './text_field.tsx';

const words = strings.accounts;
const DAY_MS = 24 * 3_600_000;
const LIVES = [1, 7, 30, 90, 365, 0];

type Attempt = (act: () => Promise<unknown>) => void;

/** Tokens, and a form for another one. */
export function TokenAccounts({ attempt }: { attempt: Attempt }) {
  const secret = useSignal('');
  return (
    <>
      <ul class="account-list">
        {tokens.value.length === 0 && <li class="hint">{words.noTokens}</li>}
        {tokens.value.map((token) => (
          <TokenLine key={token.id} token={token} attempt={attempt} />
        ))}
      </ul>
      {secret.value === '' ? (
        <TokenForm
          attempt={attempt}
          onMade={(made) => {
            secret.value = made;
          }}
        />
      ) : (
        <div class="account-form account-secret" role="status">
          <p>{words.shownOnce}</p>
          <code data-testid="token-secret">{secret.value}</code>
          <div class="account-acts">
            <button
              type="button"
              class="button button-main"
              onClick={() => void copyText(secret.value, words.token)}
            >
              {words.copy}
            </button>
            <button
              type="button"
              class="button"
              data-testid="token-done"
              onClick={() => {
                secret.value = '';
              }}
            >
              {words.done}
            </button>
          </div>
        </div>
      )}
    </>
  );
}

function TokenLine({ token, attempt }: { token: Token; attempt: Attempt }) {
  const limits = [token.embed ? 'embed' : '', ...token.scope].filter((limit) => limit !== '');
  const owner = token.owner === undefined ? '' : `, ${token.owner}`;
  return (
    <li class="account-line" data-testid="token-line" data-token={token.name}>
      <div class="account-head">
        <span class="account-name">{token.name}</span>
        <span class="account-fact">
          {token.roles.join(', ')}
          {owner}
        </span>
        <span class="account-fact account-more">
          {words.expiry(day(token.expires) ?? words.never)},{' '}
          {token.last_use ? words.lastUse(day(token.last_use) ?? '') : words.neverUsed}
        </span>
      </div>
      {limits.length > 0 && <code class="account-rules">{limits.join('; ')}</code>}
      <div class="account-acts">
        <SureButton
          label={words.revoke}
          sure={words.sure(token.name)}
          testId="token-revoke"
          onSure={() => attempt(() => revokeToken(token.id))}
        />
      </div>
    </li>
  );
}

function TokenForm({ attempt, onMade }: { attempt: Attempt; onMade: (secret: string) => void }) {
  const [name, scope, owner] = [useSignal(''), useSignal(''), useSignal('')];
  const [days, embed] = [useSignal(90), useSignal(false)];
  const chosen = useSignal<readonly string[]>(['viewer']);
  const [ownerField, daysField, scopeField] = [useUniqueId(), useUniqueId(), useUniqueId()];
  const create = async () => {
    const expires = days.value === 0 ? undefined : new Date(Date.now() + days.value * DAY_MS).toISOString();
    const rules = scope.value.split('\n').map((rule) => rule.trim());
    const made = await createToken({
      name: name.value.trim(),
      roles: chosen.value,
      owner: owner.value === '' ? undefined : owner.value,
      embed: embed.value,
      scope: rules.filter((rule) => rule !== ''),
      expires,
    });
    name.value = scope.value = '';
    onMade(made);
  };
  return (
    <form
      class="account-form"
      aria-label={words.newToken}
      onSubmit={(event) => {
        event.preventDefault();
        attempt(create);
      }}
    >
      <h3>{words.newToken}</h3>
      <TextField label={words.name} value={name} testId="token-name" />
      <RoleChoice
        chosen={chosen.value}
        testId="token-roles"
        onChange={(roles) => {
          chosen.value = roles;
        }}
      />
      <div class="text-field">
        <label for={ownerField}>{words.owner}</label>
        <select
          id={ownerField}
          class="input"
          value={owner.value}
          onChange={(event) => {
            owner.value = event.currentTarget.value;
          }}
        >
          <option value="">{words.noOwner}</option>
          {users.value
            .filter((user) => user.is_account)
            .map((user) => (
              <option key={user.name} value={user.name}>
                {user.name}
              </option>
            ))}
        </select>
      </div>
      <div class="text-field">
        <label for={daysField}>{words.expires}</label>
        <select
          id={daysField}
          class="input"
          data-testid="token-expires"
          value={days.value}
          onChange={(event) => {
            days.value = Number(event.currentTarget.value);
          }}
        >
          {LIVES.map((life) => (
            <option key={life} value={life}>
              {words.days(life)}
            </option>
          ))}
        </select>
      </div>
      <label class="account-role">
        <input
          type="checkbox"
          checked={embed.value}
          data-testid="token-embed"
          onChange={(event) => {
            embed.value = event.currentTarget.checked;
          }}
        />
        {words.embed}
      </label>
      <div class="text-field">
        <label for={scopeField}>{words.scope}</label>
        <textarea
          id={scopeField}
          class="input"
          rows={2}
          spellcheck={false}
          placeholder="read plant-7/*"
          data-testid="token-scope"
          value={scope.value}
          onInput={(event) => {
            scope.value = event.currentTarget.value;
          }}
        />
      </div>
      <button type="submit" class="button button-main" data-testid="token-create">
        {words.create}
      </button>
    </form>
  );
}

/** Date and minute of a time of the DAC. */
function day(time: string | undefined): string | undefined {
  return time?.replace('T', ' ').slice(0, 16);
}
