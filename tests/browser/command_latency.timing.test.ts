import { expect, it } from 'vitest';
import { Oasis } from './harness/oasis.ts';
import { Rig } from './harness/rig.ts';

const rig = new Rig(() => Oasis.up());

it('shows ten samples a second soon after the click', async () => {
  const visit = await rig.visit();
  await expect
    .poll(async () => Number(await visit.part('processor', 'rate').textContent()))
    .toBeCloseTo(1, 1);
  // All times are measured in the page, by what a person sees.
  const seen = await visit.card('processor').evaluate(async (card) => {
    const part = (testId: string) =>
      card.querySelector<HTMLElement>(`[data-testid=${testId}]`) as HTMLElement;
    const status = part('command-status');
    const sequence = part('sequence');
    const result = { done: Number.POSITIVE_INFINITY, samples: [] as number[] };
    const clicked = performance.now();
    let before = sequence.textContent;
    await new Promise<void>((resolve) => {
      const observer = new MutationObserver(() => {
        const now = performance.now() - clicked;
        if (status.dataset.status === 'done') result.done = Math.min(result.done, now);
        if (sequence.textContent !== before) result.samples.push(now);
        before = sequence.textContent;
        if (result.samples.filter((time) => time > result.done).length < 4) return;
        observer.disconnect();
        resolve();
      });
      observer.observe(card, { subtree: true, childList: true, characterData: true, attributes: true });
      part('hertz-preset-10').click();
    });
    return result;
  });
  console.info('10 Hz after the click (ms):', Math.round(seen.done), seen.samples.map(Math.round));
  await expect
    .poll(async () => Number(await visit.part('processor', 'rate').textContent()))
    .toBeCloseTo(10, 0);
  expect(await visit.part('processor', 'hertz').textContent()).toBe('of 10 Hz set');
  expect(visit.complaints).toEqual([]);
  await visit.close();
});
