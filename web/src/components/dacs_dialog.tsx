import { strings } from '../strings.ts';
import { DacTable } from './dac_table.tsx';
import { Dialog } from './dialog.tsx';
import { StaySwitch } from './going_on.tsx';
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
