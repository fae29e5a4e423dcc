import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { SureButton } from '../components/sure_button.tsx';
import {
  type Preview,
  previewRole,
  type Role,
  removeRole,
  roles,
  setRole,
  verbs,
} from '../state/accounts.ts';
import { strings } from '../strings/strings.ts';
import { TextField } from './text_field.tsx';

const words = strings.accounts;
const PAUSE_MS = 250;

type Attempt = (act: () => Promise<unknown>) => void;

/** Roles, and an editor of their rules. */
export function RoleAccounts({ attempt }: { attempt: Attempt }) {
  const edited = useSignal<Role | undefined>(undefined);
  return (
    <>
      <ul class="account-list">
        {roles.value.map((role) => (
          <li key={role.name} class="account-line" data-testid="role-line" data-role={role.name}>
            <div class="account-head">
              <span class="account-name">{role.name}</span>
              {role.built_in && <span class="account-fact">{words.builtIn}</span>}
            </div>
            <code class="account-rules">{role.rules.join('; ')}</code>
            <div class="account-acts">
              <button
                type="button"
                class="button button-quiet"
                data-testid="role-edit"
                onClick={() => {
                  edited.value = role;
                }}
              >
                {role.built_in ? words.show : words.edit}
              </button>
              {!role.built_in && (
                <SureButton
                  label={words.remove}
                  sure={words.sure(role.name)}
                  testId="role-remove"
                  onSure={() => attempt(() => removeRole(role.name))}
                />
              )}
            </div>
          </li>
        ))}
      </ul>
      <RoleForm
        key={edited.value?.name ?? ''}
        role={edited.value}
        attempt={attempt}
        onDone={() => {
          edited.value = undefined;
        }}
      />
    </>
  );
}

interface Draft {
  readonly verbs: string;
  readonly target: string;
}

const FIRST_DRAFT: Draft = { verbs: 'read', target: '*/*' };

function RoleForm(props: { role: Role | undefined; attempt: Attempt; onDone: () => void }) {
  const { role, attempt, onDone } = props;
  const name = useSignal(role?.name ?? '');
  const drafts = useSignal<readonly Draft[]>(role?.rules.map(draftOf) ?? [FIRST_DRAFT]);
  const rules = drafts.value.map((draft) => `${draft.verbs} ${draft.target}`.trim());
  const isFixed = role?.built_in ?? false;
  const set = (at: number, draft: Partial<Draft>) => {
    drafts.value = drafts.value.map((old, index) => (index === at ? { ...old, ...draft } : old));
  };
  return (
    <form
      class="account-form"
      aria-label={role?.name ?? words.newRole}
      onSubmit={(event) => {
        event.preventDefault();
        attempt(async () => {
          await setRole(name.value.trim(), rules);
          onDone();
          name.value = '';
          drafts.value = [FIRST_DRAFT];
        });
      }}
    >
      <h3>{role?.name ?? words.newRole}</h3>
      {role === undefined && <TextField label={words.name} value={name} testId="role-name" />}
      <fieldset class="account-rule-list" disabled={isFixed}>
        <legend>{words.rules}</legend>
        {drafts.value.map((draft, at) => (
          <div key={at} class="account-rule">
            <VerbChoice
              chosen={draft.verbs.split(',').filter((verb) => verb !== '')}
              onChange={(chosen) => set(at, { verbs: chosen.join(',') })}
            />
            <input
              class="input"
              type="text"
              aria-label={`${words.node}/${words.instance}`}
              placeholder="plant-*/*"
              spellcheck={false}
              data-testid="role-target"
              value={draft.target}
              onInput={(event) => set(at, { target: event.currentTarget.value })}
            />
            {drafts.value.length > 1 && (
              <button
                type="button"
                class="button button-quiet"
                onClick={() => {
                  drafts.value = drafts.value.filter((_, index) => index !== at);
                }}
              >
                {words.removeRule}
              </button>
            )}
          </div>
        ))}
      </fieldset>
      <RolePreview rules={rules} />
      <div class="account-acts">
        {!isFixed && (
          <>
            <button type="submit" class="button button-main" data-testid="role-save">
              {words.save}
            </button>
            <button
              type="button"
              class="button"
              data-testid="role-add-rule"
              onClick={() => {
                drafts.value = [...drafts.value, FIRST_DRAFT];
              }}
            >
              {words.addRule}
            </button>
          </>
        )}
        {role !== undefined && (
          <button type="button" class="button" onClick={onDone}>
            {words.cancel}
          </button>
        )}
      </div>
    </form>
  );
}

/** Groups of verbs and single ones. */
function VerbChoice(props: { chosen: readonly string[]; onChange: (chosen: readonly string[]) => void }) {
  const { chosen, onChange } = props;
  const all = [...Object.entries(words.group).map(([verb, permits]) => ({ verb, permits })), ...verbs.value];
  return (
    <div class="account-verbs">
      {all.map(({ verb, permits }) => (
        <label key={verb} class="account-verb" title={permits}>
          <input
            type="checkbox"
            value={verb}
            checked={chosen.includes(verb)}
            onChange={(event) => {
              const rest = chosen.filter((other) => other !== verb);
              onChange(event.currentTarget.checked ? [...rest, verb] : rest);
            }}
          />
          {verb}
        </label>
      ))}
    </div>
  );
}

/** What somebody with these rules would see, a moment after the last change. */
function RolePreview({ rules }: { rules: readonly string[] }) {
  const preview = useSignal<Preview | undefined>(undefined);
  const problem = useSignal('');
  const text = rules.join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: signals do not change
  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(() => {
      previewRole(text.split('\n')).then(
        (found) => {
          if (!isCurrent) return;
          preview.value = found;
          problem.value = '';
        },
        (error: unknown) => {
          if (isCurrent) problem.value = error instanceof Error ? error.message : String(error);
        },
      );
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text]);
  if (problem.value !== '') return <p class="form-problem">{problem.value}</p>;
  if (!preview.value) return <p class="hint">{'\u00a0'}</p>;
  const { sees, total, instances, verbs } = preview.value;
  return (
    <div class="account-preview" role="status" data-testid="role-preview">
      <strong>{words.preview(sees, total)}</strong>
      <p class="hint">{words.previewVerbs(verbs.join(', ') || words.nothing)}</p>
      <ul>
        {instances.map((instance) => (
          <li key={instance}>{instance}</li>
        ))}
      </ul>
    </div>
  );
}

/** A rule of the DAC as its two fields. */
function draftOf(rule: string): Draft {
  const at = rule.indexOf(' ');
  return at < 0 ? { verbs: rule, target: '*' } : { verbs: rule.slice(0, at), target: rule.slice(at + 1) };
}
