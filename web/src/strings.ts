import { accountStrings } from './strings/accounts.ts';
import { alarmsStrings } from './strings/alarms.ts';
import { auditLogStrings } from './strings/audit_log.ts';
import { cardStrings } from './strings/card.ts';
import { commandStrings } from './strings/commands.ts';
import { connectionStrings } from './strings/connection.ts';
import { dacStrings } from './strings/dacs.ts';
import { expressionStrings } from './strings/expressions.ts';
import { goingOnStrings } from './strings/going_on.ts';
import { handlerStrings } from './strings/handlers.ts';
import { helpStrings } from './strings/help.ts';
import { interruptionStrings } from './strings/interruption.ts';
import { ledgerStrings } from './strings/ledger.ts';
import { pageStrings } from './strings/page.ts';
import { paletteStrings } from './strings/palette.ts';
import { panelsStrings } from './strings/panels.ts';
import { sessionStrings } from './strings/session.ts';
import { timeStrings } from './strings/time.ts';
import { treeStrings } from './strings/tree.ts';

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
