import { Dialog } from '../components/dialog.tsx';
import { chooseZone, localZone, type Zone, zone } from '../format/zone.ts';
import { showHintsAgain } from '../state/hints.ts';
import { redraw } from '../state/time.ts';
import { strings } from '../strings/strings.ts';

const words = strings.preferences;

/** How this browser shows the page. */
export function PreferencesDialog() {
  return (
    <Dialog title={words.title} testId="preferences">
      <div class="preferences">
        <Choice<Zone>
          label={words.zone}
          name="zone"
          value={zone.value}
          options={[
            ['local', words.zones.local(localZone())],
            ['utc', words.zones.utc],
          ]}
          hint={words.zoneHint}
          onChoose={(wanted) => {
            chooseZone(wanted);
            redraw();
          }}
        />
        <button type="button" class="button" data-testid="hints-again" onClick={showHintsAgain}>
          {strings.hints.again}
        </button>
      </div>
    </Dialog>
  );
}

function Choice<Name extends string>(props: {
  label: string;
  name: string;
  value: Name;
  options: readonly (readonly [Name, string])[];
  hint: string;
  onChoose: (name: Name) => void;
}) {
  return (
    <fieldset class="add-kinds">
      <legend>{props.label}</legend>
      {props.options.map(([name, label]) => (
        <label key={name} class={name === props.value ? 'add-kind is-current' : 'add-kind'}>
          <input
            type="radio"
            name={props.name}
            class="visually-hidden"
            checked={name === props.value}
            data-testid={`${props.name}-${name}`}
            onChange={() => props.onChoose(name)}
          />
          {label}
        </label>
      ))}
      <p class="preferences-hint">{props.hint}</p>
    </fieldset>
  );
}
