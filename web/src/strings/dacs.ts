const healths = new Map([
  ['ok', 'ok'],
  ['degraded', 'degraded'],
  ['failing', 'failing'],
]);

/** The list of DACs of a TEM. */
export const dacStrings = {
  dacs: {
    title: 'DACs',
    open: (live: number, all: number) => `DACs (d): ${live} of ${all} live`,
    openUnknown: 'DACs (d)',
    columns: {
      name: 'DAC',
      kind: 'Kind',
      state: 'State',
      health: 'Health',
      nodes: 'Nodes',
      readers: 'Readers',
      rate: 'Samples/s',
      heard: 'Heard',
    },
    kind: (isRelay: boolean): string => (isRelay ? 'relay' : 'DAC'),
    kindTip: 'A relay has no nodes of its own: it serves those of DACs.',
    state: (isLive: boolean): string => (isLive ? 'live' : 'late'),
    stateTip: 'A DAC is late if the TEM has received no heartbeat for 1.5 s.',
    health: (status: string) => healths.get(status) ?? 'unknown',
    ago: (age: string) => `${age} ago`,
    own: 'this page',
    last: 'opened last',
    openTip: (address: string) => `Open ${address} with this layout`,
    noAddress: 'The address of this DAC cannot be opened.',
    filter: 'Filter by name',
    more: (count: string) => `${count} more: type to filter`,
    none: 'The TEM of this DAC has not answered yet.',
    noMatch: 'No DAC has such a name.',
    asOf: (age: string) => `The list is ${age} old: the DAC does not answer.`,
    source:
      'The list is that of the TEM in this DAC. A browser lets a page ask only the DAC that it came from.',
    tems: 'Other TEMs',
    temState: (isLive: boolean): string => (isLive ? 'answers' : 'does not answer'),
    temTip: (address: string) => `Open ${address} with this layout, and remember it`,
    alone: 'This is a TEM. Choose the DAC that you want to watch.',
    location: 'TEM location',
    locationHint:
      'Address of another TEM, such as http://tem.example.org:7000. Its page opens with this layout.',
    openTem: 'Open',
    forget: 'Forget',
    notALocation: (text: string) =>
      text.trim() === '' ? 'Enter an address.' : `${text.trim()} is not an address of a page.`,
    typed: (location: string) => `Kept in this browser: ${location}`,
    byLink: (location: string) => `Named by the link that you followed: ${location}`,
    silent: (name: string | undefined) => `${name ?? 'The DAC'} does not answer.`,
    openOther: (name: string) => `Open ${name}`,
    allOthers: (count: number) => `All ${count} other DACs`,
    askTem: (location: string) => `Find another DAC at ${location}`,
  },
};
