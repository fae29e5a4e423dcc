/** A choice that a panel keeps. */
export function Toggle(props: {
  label: string;
  isOn: boolean;
  testId: string;
  onChange: (isOn: boolean) => void;
}) {
  return (
    <label class="panel-toggle">
      <input
        type="checkbox"
        checked={props.isOn}
        data-testid={props.testId}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      {props.label}
    </label>
  );
}

/** One of several choices that a panel keeps. */
export function Choice<T extends string | number>(props: {
  label: string;
  value: T;
  values: readonly T[];
  nameOf: (value: T) => string;
  testId: string;
  onChange: (value: T) => void;
}) {
  const { label, value, values, nameOf } = props;
  return (
    <label class="panel-toggle">
      {label}
      <select
        class="input"
        data-testid={props.testId}
        onChange={(event) => {
          const found = values.find((other) => String(other) === event.currentTarget.value);
          if (found !== undefined) props.onChange(found);
        }}
      >
        {values.map((other) => (
          <option key={other} value={other} selected={other === value}>
            {nameOf(other)}
          </option>
        ))}
      </select>
    </label>
  );
}
