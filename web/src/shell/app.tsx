import { isKiosk, isViewOnly } from '../state/mode.ts';
import { notice } from '../state/notice.ts';
import { connection } from '../state/store.ts';
import { Banner } from './banner.tsx';
import { Dialogs } from './dialogs.tsx';
import { ArrivalNote } from './going_on_button.tsx';
import { Header } from './header.tsx';
import { SignIn } from './sign_in.tsx';
import { TimeBar } from './time_bar.tsx';
import { Tree } from './tree.tsx';
import { UnknownGate } from './unknown_gate.tsx';
import { Workspace } from './workspace.tsx';

export function App() {
  const isLost = connection.value.phase !== 'connected';
  return (
    <div class={isLost ? 'app is-lost' : 'app'}>
      {!isKiosk && (
        <>
          <Header />
          <TimeBar />
          <ArrivalNote />
        </>
      )}
      <UnknownGate />
      <div class="app-body">
        {!isViewOnly && <Tree />}
        <Workspace />
      </div>
      <Banner />
      <Dialogs />
      <Notice />
      <SignIn />
    </div>
  );
}

function Notice() {
  return (
    <p class="notice" role="status" data-testid="notice">
      {notice.value}
    </p>
  );
}
