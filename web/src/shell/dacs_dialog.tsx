import { Dialog } from '../components/dialog.tsx';
import { strings } from '../strings/strings.ts';
import { DacTable } from './dac_table.tsx';
import { StaySwitch } from './going_on_button.tsx';
import { TemLocation } from './tem_location.tsx';

/** The DACs that the TEM of this page knows, and the way to another TEM. */
export function DacsDialog() {
  return (
    <Dialog title={strings.dacs.title} testId="dacs">
      <DacTable />
      <p class="hint">{strings.dacs.source}</p>
      <StaySwitch />
      <TemLocation />
    </Dialog>
  );
}
