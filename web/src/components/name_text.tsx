/** Letters at the end of a name that are shown in any case. */
const END = 10;

/**
 * A name that is cut in its middle where it has no room: names of one machine often differ at their end only. The element
 * around it has the whole name in its tip.
 */
export function NameText({ name }: { name: string }) {
  const [begin, end] = halves(name);
  if (end === '') return <>{name}</>;
  return (
    <span class="name-cut" dir="auto">
      <span class="name-begin">{begin}</span>
      <span class="name-end">{end}</span>
    </span>
  );
}

/** The part of a name that may be cut, and the part that stays; a short name is one part. */
export function halves(name: string): readonly [string, string] {
  const letters = Array.from(name);
  if (letters.length < 2 * END) return [name, ''];
  return [letters.slice(0, -END).join(''), letters.slice(-END).join('')];
}
