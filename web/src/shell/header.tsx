import { Dot } from '../components/dot.tsx';
import { lazy } from '../components/lazy.tsx';
import { formatOffset } from '../format/time.ts';
import { dashboard } from '../state/dashboard.ts';
import { isViewOnly } from '../state/mode.ts';
import { connection } from '../state/store.ts';
import { strings } from '../strings/strings.ts';
import { SignedIn } from './sign_in.tsx';
import { Toolbar } from './toolbar.tsx';
import { ArchiveTrouble, ArchiveWarning, HealthWarning } from './warnings.tsx';

/** Most visits show a layout of their own. */
const DashboardBar = lazy(async () => (await import('./dashboard_bar.tsx')).DashboardBar);

const TONES = { connected: 'good', connecting: 'idle', reconnecting: 'warn' } as const;

export function Header() {
  const { phase, server, clock, door } = connection.value;
  const words = strings.connection;
  return (
    <header class="header">
      <div class="brand">
        <Mark />
        <h1 class="brand-name">{strings.title}</h1>
        <span class="brand-sub">{strings.subtitle}</span>
      </div>
      {dashboard.value && <DashboardBar />}
      <div class={`pill pill-${TONES[phase]}`} role="status" data-testid="connection" data-phase={phase}>
        <Dot tone={TONES[phase]} />
        <span>{words[phase]}</span>
      </div>
      <ArchiveTrouble />
      <HealthWarning />
      <ArchiveWarning />
      <dl class="facts">
        <Fact name={words.door} value={words.doors[door]} testId="door" />
        <Fact
          name={words.clock}
          tip={words.clockTip}
          value={clock ? formatOffset(clock.offset) : words.unknown}
          testId="clock-offset"
        />
        <Fact
          name={words.roundTrip}
          value={clock ? formatOffset(clock.roundTrip).slice(1) : words.unknown}
          testId="round-trip"
        />
        <Fact name={words.server} value={server || words.unknown} testId="server" />
      </dl>
      <SignedIn />
      {!isViewOnly && <Toolbar />}
    </header>
  );
}

function Fact(props: { name: string; value: string; testId: string; tip?: string }) {
  return (
    <div class="fact" title={props.tip}>
      <dt>{props.name}</dt>
      <dd data-testid={props.testId}>{props.value}</dd>
    </div>
  );
}

function Mark() {
  return (
    <svg class="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
      <title>{strings.title}</title>
      <path d="M3 19h6l3-10 5 15 4-11 2 6h6" />
    </svg>
  );
}
