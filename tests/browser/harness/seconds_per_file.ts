import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestModule } from 'vitest/node';

const ARTIFACTS = fileURLToPath(new URL('../artifacts/', import.meta.url));
const SLOWEST = 10;

/** Prints the slowest files after a run, and writes the seconds of all files to `artifacts/seconds.json`. */
export class SecondsPerFile implements Reporter {
  private readonly start = Date.now();

  onTestRunEnd(modules: readonly TestModule[]): void {
    const lanes = new Map<string, number>();
    const files = modules
      .map((module) => ({
        file: module.relativeModuleId,
        lane: module.project.name,
        seconds: Math.round(module.diagnostic().duration / 100) / 10,
      }))
      .sort((first, second) => second.seconds - first.seconds);
    for (const { lane, seconds } of files) lanes.set(lane, (lanes.get(lane) ?? 0) + seconds);
    const lines = files.slice(0, SLOWEST).map(({ file, seconds }) => row(seconds, file));
    const sums = [...lanes].map(([lane, seconds]) => row(seconds, `all of the lane ${lane}`));
    const wall = row((Date.now() - this.start) / 1000, 'from start to end');
    console.log(['\nSeconds of the slowest files', ...lines, ...sums, wall, ''].join('\n'));
    mkdirSync(ARTIFACTS, { recursive: true });
    writeFileSync(`${ARTIFACTS}seconds.json`, `${JSON.stringify(files, null, 1)}\n`);
  }
}

function row(seconds: number, text: string): string {
  return `${seconds.toFixed(1).padStart(8)}  ${text}`;
}
