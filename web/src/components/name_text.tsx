import { type NamePart, partsOf } from '../format/name_parts.ts';
import { tellingNames } from '../state/names.ts';
import type { Target } from '../wire/target.ts';

/** Beginnings and ends of letters. */
export type Ranges = readonly (readonly [number, number])[];

/**
 * A name that is cut in its middle where it has no room: what tells it from the names of others stays. The element around it
 * has the whole name in its tip.
 */
export function NameText({ name, marked = [] }: { name: string; marked?: Ranges }) {
  const parts = partsOf(name, tellingNames.value);
  if (parts.length === 1) return <Letters name={name} part={parts[0]} marked={marked} />;
  return (
    <span class="name-cut" dir="auto">
      {parts.map((part) => (
        <span key={part.from} class={part.stays ? 'name-kept' : 'name-rest'}>
          <Letters name={name} part={part} marked={marked} />
        </span>
      ))}
    </span>
  );
}

/** An instance and its node side by side. */
export function TargetText({ target }: { target: Target }) {
  return (
    <span class="target-name" title={`${target.instance} (${target.node})`}>
      <NameText name={target.instance} />{' '}
      <span class="ledger-node">
        <NameText name={target.node} />
      </span>
    </span>
  );
}

/** A part of a name, with the letters that are marked. */
function Letters({ name, part, marked }: { name: string; part: NamePart; marked: Ranges }) {
  const pieces = [];
  let last = part.from;
  for (const [from, to] of marked) {
    const [begin, end] = [Math.max(from, last), Math.min(to, part.to)];
    if (begin >= end) continue;
    pieces.push(name.slice(last, begin), <mark key={begin}>{name.slice(begin, end)}</mark>);
    last = end;
  }
  return (
    <>
      {pieces}
      {name.slice(last, part.to)}
    </>
  );
}
