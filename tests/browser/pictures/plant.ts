import { randomUUID } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { PlainNode } from '../harness/plain_node.ts';

export const ENGINE = {
  name: 'Plant::Engine',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    {
      name: 'bearing',
      type: 'real64',
      unit: 'Cel',
      kind: 'gauge',
      label: 'Bearing',
      min: 0,
      max: 120,
      warn: { above: 80 },
      alarm: { above: 95 },
    },
    { name: 'winding', type: 'real64', unit: 'Cel', kind: 'gauge', label: 'Winding' },
    { name: 'coolant', type: 'real64', unit: 'Cel', kind: 'gauge', label: 'Coolant' },
    { name: 'torque', type: 'real64', unit: 'N.m', kind: 'gauge', label: 'Torque' },
    {
      name: 'mode',
      type: 'uint8',
      kind: 'state',
      label: 'Mode',
      enum: {
        name: 'Mode',
        values: ['IDLE', 'SPEEDING_UP', 'RUNNING', 'BRAKING'].map((name, value) => ({ name, value })),
      },
    },
    { name: 'brake', type: 'boolean', kind: 'state', label: 'Brake' },
  ],
};
const WIND = {
  name: 'Plant::Wind',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'direction', type: 'real32', unit: 'deg', label: 'Direction', min: 0, max: 359 },
    { name: 'speed', type: 'real32', unit: 'm/s', label: 'Speed', min: 0, max: 60 },
  ],
};
/** The levels of log records; warnings and errors are highlighted. */
export const LOG_LEVEL = {
  name: 'level',
  type: 'uint8',
  kind: 'event',
  label: 'Level',
  enum: {
    name: 'LogLevel',
    values: [
      { name: 'DEBUG', value: 5 },
      { name: 'INFO', value: 9 },
      { name: 'WARN', value: 13 },
      { name: 'ERROR', value: 17 },
    ],
  },
  warn: { values: [13] },
  alarm: { values: [17] },
};
const LOG = {
  name: 'Plant::Log',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [LOG_LEVEL, { name: 'message', type: 'string' }],
};

const FEED_MS = 250;

/** A node of a small plant: an engine, the wind, and a log. */
export class Plant {
  private feeding: ReturnType<typeof setInterval> | undefined;

  private constructor(
    readonly node: PlainNode,
    private readonly phase: number,
  ) {}

  /** Registers the node; `phase` in milliseconds moves its waves. */
  static async start(channel: string, name: string, phase = 0): Promise<Plant> {
    const node = await PlainNode.start(channel, name, [
      { name: 'engine', schema: ENGINE, hertz: 50 },
      { name: 'wind', schema: WIND, hertz: 4 },
      { name: 'log', schema: LOG },
    ]);
    return new Plant(node, phase);
  }

  /** Sends samples from now on, until the plant stops. */
  feed(): void {
    let last = Date.now();
    this.feeding = setInterval(() => {
      const next = Date.now();
      this.engine(last, next);
      this.wind(last, next);
      last = next;
    }, FEED_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.feeding);
    await this.node.stop();
  }

  log(time: number, level: number, message: string): void {
    this.node.flush('log', [time], [Uint8Array.of(level), [message]]);
  }

  /** Sends samples of the engine in a time span, after `dropped` lost ones. */
  engine(from: number, to: number, dropped = 0): void {
    const times = range(from, to, 20);
    if (times.length === 0) return;
    const noise = (time: number, size: number) => size * (((time * 7919) % 997) / 997 - 0.5);
    const wave = (time: number, seconds: number) =>
      Math.sin(((time + this.phase) / 1000 / seconds) * 2 * Math.PI);
    const column = (value: (time: number) => number) => Float64Array.from(times, value);
    this.node.flush(
      'engine',
      times,
      [
        column((time) => 78 + 20 * Math.max(0, wave(time, 41)) ** 3 + noise(time, 2)),
        column((time) => 66 + 7 * wave(time, 53) + noise(time, 1)),
        column((time) => 41 + 3 * wave(time + 9000, 41) + noise(time, 0.5)),
        column((time) => 180 + 60 * wave(time, 7) + 25 * wave(time, 1.3) + noise(time, 12)),
        Uint8Array.from(times, (time) => [2, 2, 3, 0, 1, 2][Math.floor(time / 9000) % 6]),
        Uint8Array.from(times, (time) => (Math.floor(time / 9000) % 6 === 2 ? 1 : 0)),
      ],
      dropped,
    );
  }

  wind(from: number, to: number): void {
    const times = range(from, to, 250);
    if (times.length === 0) return;
    this.node.flush('wind', times, [
      Float32Array.from(times, (time) => (228 + 45 * Math.sin(time / 9000) + ((time * 31) % 40)) % 360),
      Float32Array.from(times, (time) => 6 + 4 * Math.sin(time / 7000) + ((time * 17) % 30) / 9),
    ]);
  }
}

function range(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  return Array.from(
    { length: Math.max(0, Math.ceil(to / step) - first) },
    (_, index) => (first + index) * step,
  );
}

/** Returns a link to a layout of panels. */
export function layoutLink(
  url: string,
  panels: readonly object[],
  geometry?: object,
  range: object = { live: true, span: 60_000 },
): string {
  const layout = { oasis: 'layout', version: 1, panels, geometry, range };
  return `${url}#view=${deflateRawSync(JSON.stringify(layout)).toString('base64url')}`;
}

interface PanelSpec {
  readonly id: string;
  readonly kind: string;
}

/** Returns a geometry of the docking library: columns of panels below each other. */
export function grid(columns: readonly (readonly PanelSpec[])[]): object {
  const [width, height] = [900, 540];
  return {
    grid: {
      root: {
        type: 'branch',
        size: height,
        data: columns.map((panels) => ({
          type: 'branch',
          size: width / columns.length,
          data: panels.map(({ id }) => ({
            type: 'leaf',
            size: height / panels.length,
            data: { views: [id], activeView: id, id },
          })),
        })),
      },
      width,
      height,
      orientation: 'HORIZONTAL',
    },
    panels: Object.fromEntries(
      columns.flat().map(({ id, kind }) => [id, { id, contentComponent: kind, title: id }]),
    ),
    activeGroup: columns[0][0].id,
  };
}
