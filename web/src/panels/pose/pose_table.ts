import type { ShownPoses } from './shown_poses.ts';
import { poseStrings as words } from './strings.ts';

/** Returns the poses of a panel as rows of cells, with all digits. */
export function tableOf(
  names: readonly string[],
  unit: string | undefined,
  answer: ShownPoses | undefined,
): string[][] {
  const { time, instance, coordinates, parts } = words.table;
  const head = [time, instance, ...coordinates.map((name) => `${name} [${unit ?? '1'}]`), ...parts];
  const rows = [...(answer?.byNumber ?? [])].flatMap(([index, { times, xs, ys, zs, quaternion }]) =>
    Array.from(times, (at, row) => [
      new Date(at).toISOString(),
      names[index],
      ...[xs, ys, zs].map((column) => String(column[row])),
      ...parts.map((_, part) => textOf(quaternion[part]?.[row])),
    ]),
  );
  return [head, ...rows];
}

function textOf(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? '' : String(value);
}
