import { fetchJson } from '../api/api.ts';

/** Bytes of a part: small at first, because the DAC waits 10 s for one. */
const MIN_PART_BYTES = 65_536;
const MAX_PART_BYTES = 4_194_304;
const PART_MS = 1000;
const POLL_MS = 300;

/** A series of a recording. */
interface Series {
  readonly node: string | null;
  readonly instance: string;
  readonly samples: number;
  readonly from_ns: number;
  readonly to_ns: number;
  readonly schema: { readonly metrics: readonly { name: string; type: unknown; unit?: string }[] };
}

/** An import of the DAC, as far as the page shows it. */
export interface RecordingImport {
  readonly id: string;
  readonly state: string;
  readonly progress: { bytes: number; total: number | null; seconds_left: number | null } | null;
  readonly description: {
    readonly format: string;
    readonly series: readonly Series[];
    readonly findings: readonly { subject: string | null; text: string; is_loss: boolean }[];
  } | null;
  readonly stored: {
    readonly samples: number;
    readonly known: number;
    readonly instances: readonly { node: string; instance: string }[];
    readonly from_ns: number;
    readonly to_ns: number;
  } | null;
  readonly error: string | null;
}

/** Sends the files of a recording in parts. Several files are a folder of rosbag2; CAN databases go with the others. */
export async function upload(
  files: readonly File[],
  signal: AbortSignal,
  report: (id: string, share: number) => void,
): Promise<string> {
  const content = files.filter((file) => !file.name.endsWith('.dbc'));
  const [first] = content.length > 0 ? content : files;
  const bag = content.find((file) => /\.(db3|mcap)/.test(file.name)) ?? first;
  const isFolder = content.length > 1;
  const name = isFolder ? bag.name.replace(/(_\d+)?\.(db3|mcap).*$/, '') : first.name;
  const body = { name, is_folder: isFolder };
  const { id } = (await fetchJson('POST', 'imports', { body, signal })) as RecordingImport;
  const total = files.reduce((sum, file) => sum + file.size, 0);
  let sent = 0;
  report(id, 0);
  for (const file of files) {
    const dbc = !content.includes(file) && content.length > 0;
    const path = `imports/${id}/files/${encodeURIComponent(file.name)}?dbc=${dbc}&offset=`;
    let size = MIN_PART_BYTES;
    let offset = 0;
    do {
      const part = file.slice(offset, offset + size);
      const begun = performance.now();
      await fetchJson('PUT', path + offset, { body: part, signal });
      offset += part.size;
      sent += part.size;
      report(id, sent / Math.max(total, 1));
      if (performance.now() - begun < PART_MS / 2) size = Math.min(size * 2, MAX_PART_BYTES);
      else if (performance.now() - begun > PART_MS * 2) size = Math.max(size / 2, MIN_PART_BYTES);
    } while (offset < file.size);
  }
  return id;
}

/** Describes or stores an import, and waits for the end. Throws its error. */
export async function run(
  id: string,
  act: 'describe' | 'store',
  choices: object,
  signal: AbortSignal,
  report: (state: RecordingImport) => void,
): Promise<RecordingImport> {
  await fetchJson('POST', `imports/${id}/${act}`, { body: choices, signal });
  for (;;) {
    const state = (await fetchJson('GET', `imports/${id}`, { signal })) as RecordingImport;
    if (state.state === 'failed') throw new Error(state.error ?? '');
    if (state.state === 'described' || state.state === 'stored') return state;
    report(state);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Cancels an import, and has its files removed. */
export async function cancel(id: string): Promise<void> {
  // The DAC removes an import that is left after an hour.
  await fetchJson('DELETE', `imports/${id}`).catch(() => undefined);
}
