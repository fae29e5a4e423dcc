/** A setting that is on or off. */
export function Switch(props: {
  label: string;
  tip: string;
  testId: string;
  isOn: boolean;
  onChange: () => void;
}) {
  return (
    <label class="switch" title={props.tip}>
      <input type="checkbox" data-testid={props.testId} checked={props.isOn} onChange={props.onChange} />
      {props.label}
    </label>
  );
}
