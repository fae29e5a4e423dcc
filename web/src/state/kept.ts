import { formatHertz } from '../format/name.ts';
import { formatRough } from '../format/number.ts';
import type { CommandRequest } from '../stream/protocol.ts';
import { strings } from '../strings/strings.ts';
import type { SettingEntry, SettingValue } from '../wire/settings.ts';

const words = strings.commands.kept;
const DEADBAND = 'deadband:';

/** The metric of a deadband; undefined for other settings. */
function metricOf(setting: string): string | undefined {
  return setting.startsWith(DEADBAND) ? setting.slice(DEADBAND.length) : undefined;
}

export function nameOfSetting(setting: string): string {
  const metric = metricOf(setting);
  if (metric !== undefined) return words.deadband(metric);
  return setting === 'rate' ? words.rate : setting === 'enabled' ? words.enabled : setting;
}

export function formatSetting(value: SettingValue | undefined): string {
  switch (value?.kind) {
    case 'hertz':
      return words.hertz(formatHertz(value.hertz));
    case 'demand':
      return words.demand(formatHertz(value.min), formatHertz(value.max));
    case 'enabled':
      return value.enabled ? words.on : words.off;
    case 'deadband':
      return value.deadband === undefined ? words.anyChange : formatRough(value.deadband);
    case undefined:
      return words.unknown;
  }
}

/** The command that keeps a value for the next runs; undefined if the value is unknown. */
export function keeping({ setting, value }: SettingEntry): CommandRequest | undefined {
  switch (value?.kind) {
    case 'hertz':
      return { command: 'hertz', hertz: value.hertz, keep: true };
    case 'demand':
      return { command: 'demand', min: value.min, max: value.max, keep: true };
    case 'enabled':
      return { command: value.enabled ? 'enable' : 'disable', keep: true };
    case 'deadband': {
      const { deadband } = value;
      return {
        command: 'deadband',
        metric: metricOf(setting) ?? '',
        ...(deadband !== undefined && { deadband }),
        keep: true,
      };
    }
    case undefined:
      return undefined;
  }
}

/** The name of a person or a program, without what it is. */
export function authorOf(by: string): string {
  const name = by.slice(by.indexOf(':') + 1);
  return by === 'local' ? words.local : name;
}
