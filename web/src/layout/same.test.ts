import { describe, expect, it } from 'vitest';
import type { LayoutDocument } from './document.ts';
import { isSameButForSizes, isSameLayout } from './same.ts';

const target = { node: 'plant-7', instance: 'engine' };

function layout(sizes: readonly number[], more: object = {}): LayoutDocument {
  const leaf = (size: number, index: number) => ({
    type: 'leaf',
    size,
    data: { views: [`p${index}`], activeView: `p${index}`, id: String(index + 10) },
  });
  const geometry = {
    grid: { root: { type: 'branch', size: 100, data: sizes.map(leaf) }, width: 9, height: 9 },
  };
  const panels = [{ id: 'p0', kind: 'instance', target }];
  return { oasis: 'layout', version: 1, panels, geometry, ...more } as unknown as LayoutDocument;
}

describe('isSameLayout', () => {
  it('takes no notice of the size of the window, of the time shown, and of the order of members', () => {
    const range = { range: { live: true, span: 5 } };
    expect(isSameLayout(layout([300, 100]), layout([601, 199], range))).toBe(true);
    const turned = [{ target: { instance: 'engine', node: 'plant-7' }, kind: 'instance', id: 'p0' }];
    expect(isSameLayout(layout([1]), layout([1], { panels: turned }))).toBe(true);
  });

  it('sees moved lines, other panels, and notes', () => {
    expect(isSameLayout(layout([300, 100]), layout([200, 200]))).toBe(false);
    expect(isSameButForSizes(layout([300, 100]), layout([200, 200]))).toBe(true);
    expect(isSameLayout(layout([300, 100]), layout([300, 100, 100]))).toBe(false);
    expect(isSameLayout(layout([1]), layout([1], { panels: [] }))).toBe(false);
    expect(isSameLayout(layout([1]), layout([1], { annotations: [{ time: 1, text: 'x' }] }))).toBe(false);
  });

  it('lets the page choose what an automatic panel becomes', () => {
    const before = layout([1], { panels: [{ id: 'p0', kind: 'auto', target }] });
    expect(isSameLayout(before, layout([1]))).toBe(true);
    expect(isSameLayout(layout([1]), before)).toBe(false);
  });

  it('survives places that are none', () => {
    const odd = layout([1], { geometry: { grid: { root: 7 } } });
    expect(isSameLayout(odd, odd)).toBe(false);
    expect(isSameLayout(layout([1], { geometry: undefined }), odd)).toBe(true);
  });
});
