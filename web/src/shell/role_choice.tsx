import { roles } from '../state/accounts.ts';
import { strings } from '../strings/strings.ts';

/** A box for each role. */
export function RoleChoice(props: {
  chosen: readonly string[];
  testId: string;
  onChange: (chosen: readonly string[]) => void;
}) {
  const { chosen, testId, onChange } = props;
  return (
    <fieldset class="account-roles" data-testid={testId}>
      <legend>{strings.accounts.roles}</legend>
      {roles.value.map(({ name }) => (
        <label key={name} class="account-role">
          <input
            type="checkbox"
            value={name}
            checked={chosen.includes(name)}
            onChange={(event) => {
              const rest = chosen.filter((role) => role !== name);
              onChange(event.currentTarget.checked ? [...rest, name] : rest);
            }}
          />
          {name}
        </label>
      ))}
    </fieldset>
  );
}
