import { addressOf } from '../dashboards/open.ts';
import { dacLayouts } from '../state/dac_layouts.ts';
import { missing } from '../state/dashboard.ts';
import { strings } from '../strings/strings.ts';
import { closest } from '../text/closest.ts';
import '../styles/dashboards.css';

const words = strings.layouts;

/** Says that the dashboard of the address cannot be shown, and which ones there are. */
export function MissingDashboard() {
  const { name = '', problem = '' } = missing.value ?? {};
  const meant = closest(
    name,
    dacLayouts.value.map((layout) => layout.name),
  );
  return (
    <section class="empty missing-dashboard" data-testid="missing-dashboard">
      <h2>{words.missing(name)}</h2>
      {problem !== '' && <p>{problem}</p>}
      {meant.length > 0 && (
        <p data-testid="missing-meant">
          {words.meant}{' '}
          {meant.map((other) => (
            <a key={other} class="button" href={addressOf({ name: other })}>
              {other}
            </a>
          ))}
        </p>
      )}
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
