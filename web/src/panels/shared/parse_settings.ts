import { parseUnit } from '../../expressions/units.ts';
import { type Fields, isFields, listOf } from '../../wire/fields.ts';
import { MAX_COLORED, MAX_DECIMALS, MAX_THRESHOLDS, type PanelSettings, type Threshold } from './settings.ts';

/** Longest title and unit, in characters. */
export const MAX_TITLE = 100;
export const MAX_UNIT = 60;
/** Longest identifier of a line. */
const LONGEST_ID = 3000;

/** Parses untrusted settings of a panel without their invalid parts; undefined if nothing is left. */
export function parseSettings(json: unknown): PanelSettings | undefined {
  if (!isFields(json)) return undefined;
  const settings: { -readonly [K in keyof PanelSettings]: PanelSettings[K] } = {};
  const title = typeof json.title === 'string' ? json.title.trim().slice(0, MAX_TITLE) : '';
  if (title !== '') settings.title = title;
  if (isUnit(json.unit)) settings.unit = json.unit;
  if (isDecimals(json.decimals)) settings.decimals = json.decimals;
  if (isNumber(json.min)) settings.min = json.min;
  if (isNumber(json.max)) settings.max = json.max;
  // Ends in the wrong order leave nothing to draw between them.
  if (settings.min !== undefined && settings.max !== undefined && settings.min >= settings.max) {
    delete settings.min;
    delete settings.max;
  }
  if (json.isLogarithmic === true) settings.isLogarithmic = true;
  const colors = isFields(json.colors) ? colorsIn(json.colors) : [];
  if (colors.length > 0) settings.colors = Object.fromEntries(colors);
  if (Array.isArray(json.thresholds)) settings.thresholds = thresholdsIn(json.thresholds);
  return Object.keys(settings).length > 0 ? settings : undefined;
}

/** Whether a text is a unit that the page can read. */
function isUnit(text: unknown): text is string {
  if (typeof text !== 'string' || text === '' || text.length > MAX_UNIT) return false;
  try {
    parseUnit(text);
    return true;
  } catch {
    return false;
  }
}

function colorsIn(json: Fields): [string, number][] {
  return Object.entries(json)
    .filter((entry): entry is [string, number] => {
      const [id, color] = entry;
      return id.length <= LONGEST_ID && Number.isInteger(color) && Number(color) >= 0;
    })
    .slice(0, MAX_COLORED);
}

function thresholdsIn(json: unknown): Threshold[] {
  return listOf(json)
    .slice(0, MAX_THRESHOLDS)
    .flatMap(({ value, severity, side, isZone }) => {
      if (!isNumber(value) || (severity !== 'warn' && severity !== 'alarm')) return [];
      if (side !== 'above' && side !== 'below') return [];
      return { value, severity, side, ...(isZone === true && { isZone }) };
    });
}

function isDecimals(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_DECIMALS;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
