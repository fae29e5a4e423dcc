import { addressOf } from '../dashboards/open.ts';
import { dacLayouts } from '../state/dac_layouts.ts';
import { missing } from '../state/dashboard.ts';
import { strings } from '../strings.ts';
import '../styles/dashboards.css';

const words = strings.layouts;

/** Says that the dashboard of the address cannot be shown, and which ones there are. */
export function MissingDashboard() {
  const { name = '', problem = '' } = missing.value ?? {};
  return (
    <section class="empty missing-dashboard" data-testid="missing-dashboard">
      <h2>{words.missing(name)}</h2>
      {problem !== '' && <p>{problem}</p>}
      {dacLayouts.value.length > 0 && (
        <>
          <p>{words.choose}</p>
          <ul class="dashboard-choice">
            {dacLayouts.value.map((layout) => (
              <li key={layout.name}>
                <a href={addressOf(layout)}>{layout.name}</a>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        <a href={addressOf(undefined)}>{words.own}</a>
      </p>
    </section>
  );
}
