import { spoken } from '../language/parts.ts';

/** Rules: files, their editor, and the preview. */
export const ruleStrings = spoken('rules', {
  rules: {
    kinds: { alarm: 'alarm', event: 'event', derive: 'derived', check: 'check' } as Record<string, string>,
    reading: 'Reading the rules\u2026',
    absent: 'This DAC evaluates no rules.',
    noFiles: 'There are no files of rules yet.',
    create: 'New file',
    files: 'Files',
    list: 'Rules that the DAC evaluates',
    noRules: 'The DAC evaluates no rule.',
    fromPdl: 'limits of PDL',
    memory: (bytes: string) => `at most ${bytes} each`,
    moreRules: (count: string) => `${count} more rules`,
    states: { loaded: 'Loaded', refused: 'Refused', changed: 'Being read' } as Record<string, string>,
    refusedTip: 'It has errors: its earlier rules stay active',
    fixed:
      'The configuration of the DAC names this file: change it there. Here you can try a change on the past.',
    open: (name: string) => `Open ${name}`,
    count: (count: number) => (count === 1 ? '1 rule' : `${count} rules`),
    continue: (name: string) => `Continue with ${name}, which is not saved`,
    discard: 'Discard changes',
    discardSure: 'Yes, discard them',
    unsavedFirst: 'Save or discard the changes first',

    readOnly: 'You have no permission to change rules (verb rules): you can read, check and preview them.',
    notEditable:
      'This DAC does not let pages change rules: keep an archive or set rules.directory, and set rules.editable in oasis.toml.',
    notConfigured:
      'This DAC evaluates no rules: set enabled = true in the section [rules] of oasis.toml. You can check and preview rules.',
    back: 'All rules',
    name: 'Name of the file',
    noName: 'Name the file to save it',
    badName: 'Letters, digits and - _ . of ASCII, at most 64',
    text: 'Text of the rules',
    save: 'Save',
    saveTip: 'Save; the DAC takes the rules over at once (Ctrl+S)',
    saved: (name: string) => `Saved: ${name}`,
    unsaved: 'Not saved',
    format: 'Format',
    formatTip: 'Lay the text out as oasis rules fmt does',
    delete: 'Delete',
    deleteSure: 'Yes, delete the file',
    takeOver: 'Overwrite it',
    takeMine: 'Load what the DAC has',
    conflict: 'Somebody else has changed this file.',
    fine: 'No errors.',
    warning: (code: string) => `Warning ${code}`,
    checking: 'Checking\u2026',
    notChecked: (problem: string) => `Not checked: ${problem}`,
    place: (line: number, column: number) => `${line}:${column}`,
    goTo: 'Go to this place',
    complete: 'Completions',
    keys: 'Ctrl+Space completes, Ctrl+S saves.',
    checkedRule: (kind: string, instances: string, memory: string) =>
      `${kind}, ${instances}, at most ${memory} each`,
    instances: (count: number) => (count === 1 ? '1 instance' : `${count} instances`),
    example: (node: string, instance: string, type: string, metric: string) =>
      [
        '// One state for each instance that matches the pattern; a * stands for any text.',
        `input source = "${node}/${instance}" : ${type};`,
        '',
        'alarm High {',
        `  raise source.${metric} > 95 for 2s;`,
        `  clear source.${metric} < 90 for 5s;`,
        '  severity high;',
        '}',
        '',
      ].join('\n'),

    preview: {
      title: 'Preview',
      run: 'Preview',
      tip: 'What these rules would have reported. Nothing acts, and nothing is saved.',
      span: 'Time of the preview',
      spans: {
        900000: 'last 15 min',
        3600000: 'last hour',
        21600000: 'last 6 h',
        86400000: 'last 24 h',
      } as Record<number, string>,
      shown: 'time of the charts',
      running: 'Evaluating the past\u2026',
      outdated: 'The text has changed since this preview.',
      nothing: 'These rules would have reported nothing.',
      would: (rule: string, parts: string) => `${rule} would have ${parts}`,
      part: (kind: string, count: number) => {
        const often = count === 1 ? 'once' : `${count} times`;
        const verbs: Record<string, string> = {
          raised: `raised ${often}`,
          cleared: `cleared ${often}`,
          matched: `matched ${often}`,
          violated: `been violated ${often}`,
          satisfied: `been satisfied ${often}`,
          unknown: `been unknown ${often}`,
          known: `been known again ${often}`,
        };
        return verbs[kind] ?? `${kind} ${often}`;
      },
      figures: (samples: string, instances: string, missing: string) =>
        `From ${samples} samples of ${instances}${missing === '0' ? '' : `; ${missing} are missing`}.`,
      truncated: 'This is not all: the preview has reached its limit.',
      source: 'Instance of the chart',
      more: (count: string) => `${count} more events`,
      errors: 'The text has errors: nothing was evaluated.',
    },

    keep: 'Keep on the server',
    keepTip:
      'Write a rule that computes this in the DAC: charted, archived, in SQL, and usable in other rules',
    derive: {
      unknownType: (instance: string) => `The type of ${instance} is not known yet.`,
      pattern: (name: string) => `A rule cannot name ${name}.`,
      noNode: 'The expression has no metric.',
      oneInstance: 'A rule reads one instance, and this expression reads several.',
      noUnit: (how: string) => `A rule has no ${how} [unit].`,
      noElement: (metric: string) => `A rule cannot read ${metric}.`,
      noPower: 'A rule has powers of 1 to 4 only.',
      noFunction: (name: string) => `A rule has no function ${name} of these values.`,
    },
  },
});
