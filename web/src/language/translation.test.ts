import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LOSS_CAUSES } from '@oasis/wire';
import { describe, expect, it } from 'vitest';
import { addStrings } from '../strings/add_panel.ts';
import { historyStrings } from '../strings/alarm_history.ts';
import { alarmListStrings } from '../strings/alarm_list.ts';
import { computedPanelStrings } from '../strings/computed_panels.ts';
import { destinationStrings } from '../strings/destinations.ts';
import { fleetStrings } from '../strings/fleet.ts';
import { heatStrings } from '../strings/heat.ts';
import { logStrings } from '../strings/logs.ts';
import { mapStrings } from '../strings/map.ts';
import { ruleStrings } from '../strings/rules.ts';
import { sampleExportStrings } from '../strings/sample_export.ts';
import { settingsStrings } from '../strings/settings.ts';
import { sqlStrings } from '../strings/sql.ts';
import { testRunStrings } from '../strings/test_runs.ts';
import { traceStrings } from '../strings/traces.ts';
import { unknownStrings } from '../strings/unknown.ts';
import { strings } from '../strings.ts';
import { de } from './de.ts';
import { deParts } from './de_parts.ts';
import { isGroup, translate } from './translation.ts';

const SOURCES = fileURLToPath(new URL('..', import.meta.url));
const LANGUAGES = { de };
const PARTS = {
  alarmHistory: historyStrings,
  alarmList: alarmListStrings,
  fleet: fleetStrings,
  logs: logStrings,
  traces: traceStrings,
  sql: sqlStrings,
  settings: settingsStrings,
  heat: heatStrings,
  destinations: destinationStrings,
  testRuns: testRunStrings,
  unknown: unknownStrings,
  add: addStrings,
  computed: computedPanelStrings,
  map: mapStrings,
  rules: ruleStrings,
  sampleExport: sampleExportStrings,
};

/** Names of all texts, each with the type of the text; lists with their length. */
function namesIn(texts: object, path = ''): string[] {
  return Object.entries(texts).flatMap(([name, text]: [string, unknown]) => {
    const here = path === '' ? name : `${path}.${name}`;
    if (isGroup(text)) return namesIn(text, here);
    return [`${here}: ${Array.isArray(text) ? `list of ${text.length}` : typeof text}`];
  });
}

/** Keys of a keyboard are named in one language and not in another. */
const FREE = /^keys\.names\./;

function pick(texts: object): string[] {
  return namesIn(texts)
    .filter((name) => !FREE.test(name))
    .sort();
}

describe.each(Object.entries(LANGUAGES))('the language %s', (_, texts) => {
  it('has every text but the name of the program, and no other', () => {
    const { title, ...others } = strings;
    expect(title).toBe('OASIS');
    expect(pick(texts)).toEqual(pick(others));
  });
});

describe.each(Object.entries({ de: deParts }))('the parts of the language %s', (_, texts) => {
  it('have every text, and no other', () => {
    expect(namesIn(texts).sort()).toEqual(namesIn(PARTS).sort());
  });
});

describe('German', () => {
  it('says what each cause of loss means', () => {
    const words = LOSS_CAUSES.map(({ cause }) => cause);
    expect(words.filter((cause) => de.gaps?.describe?.(cause, 1) === cause)).toEqual([]);
  });
});

describe('translate', () => {
  it('changes the texts in the objects that others have taken, and leaves the rest', () => {
    const texts = { frame: { close: 'Close', open: () => 'Open' }, other: { text: 'Text' } };
    const taken = texts.frame;
    translate(texts, { frame: { close: 'Schließen' } });
    expect(taken.close).toBe('Schließen');
    expect(taken.open()).toBe('Open');
    expect(texts.other.text).toBe('Text');
  });
});

describe('the sources', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('.test.') && !name.startsWith('strings/'))
    .map((name) => [name, readFileSync(join(SOURCES, name), 'utf8')] as const);

  it('import nothing into the texts of a language: the page waits for these before it is there itself', () => {
    const values = files
      .filter(([name]) => /^language\/de/.test(name))
      .flatMap(([name, text]) =>
        [...text.matchAll(/^import (?!type )(.*)$/gm)].map(([, what]) => `${name}: ${what}`),
      )
      .filter((line) => !line.includes("from './de_"));
    expect(values).toEqual([]);
  });

  it('take no single text before the language is known', () => {
    // At the beginning of a file only groups may be taken: their texts change with the language.
    const early = files.flatMap(([name, text]) =>
      [...text.matchAll(/^(?:export )?const \w+ = strings\.([\w.]+);$/gm)]
        .filter(
          ([, path]) =>
            !isGroup(path.split('.').reduce<unknown>((at, part) => Reflect.get(at as object, part), strings)),
        )
        .map(([line]) => `${name}: ${line}`),
    );
    expect(early).toEqual([]);
  });
});
