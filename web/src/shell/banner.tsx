import { formatAge } from '../format/time.ts';
import { now } from '../state/now.ts';
import { connection } from '../state/store.ts';
import { strings } from '../strings/strings.ts';
import { OtherDacs } from './dac_links.tsx';
import { GoingOnLine } from './going_on_button.tsx';

/** Lies over the page, so that nothing moves when the connection comes and goes. */
export function Banner() {
  const { phase, reason, since, epoch } = connection.value;
  if (phase !== 'reconnecting') return null;
  const words = strings.banner;
  const wasThere = epoch !== '';
  return (
    <div class="banner" role="alert" data-testid="banner">
      <strong>
        {wasThere ? <Lost since={since} /> : words.never} {strings.lossReason[reason]}
      </strong>
      <span>{wasThere ? words.promise : words.waiting}</span>
      <GoingOnLine />
      <OtherDacs />
    </div>
  );
}

function Lost({ since }: { since: number }) {
  return <>{strings.banner.lost(formatAge(Math.max(0, now.value - since)))}</>;
}
