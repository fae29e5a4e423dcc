import { expressionStrings } from '../expressions/strings.ts';
import { accountStrings } from './accounts.ts';
import { alarmsStrings } from './alarms.ts';
import { auditLogStrings } from './audit_log.ts';
import { cardStrings } from './card.ts';
import { commandStrings } from './commands.ts';
import { connectionStrings } from './connection.ts';
import { dacStrings } from './dacs.ts';
import { goingOnStrings } from './going_on.ts';
import { handlerStrings } from './handlers.ts';
import { helpStrings } from './help.ts';
import { interruptionStrings } from './interruption.ts';
import { ledgerStrings } from './ledger.ts';
import { pageStrings } from './page.ts';
import { paletteStrings } from './palette.ts';
import { panelsStrings } from './panels.ts';
import { sessionStrings } from './session.ts';
import { timeStrings } from './time.ts';
import { treeStrings } from './tree.ts';

/** Every word on the page, by the room it is said in. */
export const strings = {
  title: 'OASIS',
  subtitle: 'live instrumentation',
  ...connectionStrings,
  ...dacStrings,
  ...goingOnStrings,
  ...treeStrings,
  ...cardStrings,
  ...timeStrings,
  ...panelsStrings,
  ...expressionStrings,
  ...alarmsStrings,
  ...ledgerStrings,
  ...interruptionStrings,
  ...handlerStrings,
  ...pageStrings,
  ...paletteStrings,
  ...helpStrings,
  ...commandStrings,
  ...sessionStrings,
  ...accountStrings,
  ...auditLogStrings,
};
