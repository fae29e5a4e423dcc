/** Repeated panels. They are loaded with the panel. */
export const repeatStrings = {
  count: (shown: number) => (shown === 1 ? '1 instance' : `${shown} instances`),
  cut: (shown: number, all: string, left: string) =>
    `${shown} of ${all} instances are shown; ${left} are left out. Choose fewer by their node, name, type or labels.`,
  none: 'No instance matches. New ones appear here by themselves.',
  choose: 'Choose',
  chooseTip: 'Which instances have a panel here, by patterns',
  one: 'Show one only',
  oneTip: 'Leave the panel of the first instance, and end the repetition',
  open: (name: string) => `Open ${name}`,
  fields: { nodes: 'Nodes', instances: 'Instances', types: 'Types', labels: 'Labels' },
  patternTip: 'A * stands for any text',
  labelsTip: 'Labels that an instance or its node must have, such as site=graz, rack=*',
  group: (node: string, count: number) => `${node} \u00b7 ${count}`,
};
