import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Visit } from './harness/browser.ts';
import { temporaryFolder } from './harness/folder.ts';
import { Oasis } from './harness/oasis.ts';
import { PlainNode } from './harness/plain_node.ts';
import { Rig } from './harness/rig.ts';

const PUMP = {
  name: 'Plant::Pump',
  uuid: randomUUID(),
  version: '1.0',
  metrics: [
    { name: 'temperature', type: 'real64', unit: 'Cel' },
    { name: 'flow', type: 'real64', unit: 'm3/s' },
  ],
};
const HOT = `input pump = "plant-7/*" : Plant::Pump;

alarm Hot {
    raise pump.temperature > 95 Cel;
    clear pump.temperature < 90 Cel;
    severity high;
    message "Pump {instance} is hot";
}
`;

const folder = temporaryFolder();
const config = join(folder, 'oasis.toml');
writeFileSync(
  config,
  `[rules]
directory = ${JSON.stringify(join(folder, 'rules'))}
[notify.operators]
kind = "mail"
server = "127.0.0.1"
port = 1
tls = "none"
from = "plant-7@example.org"
to = ["ada@example.org"]
`,
);

const rig = new Rig(() => Oasis.dac({}, '--config', config));
let node: PlainNode;
let visit: Visit;

/** Sends one sample with a temperature. */
const flush = (temperature: number) =>
  node.flush('pump', [Date.now()], [Float64Array.of(temperature), Float64Array.of(0.2)]);

beforeAll(async () => {
  node = await PlainNode.start(rig.oasis.channel, 'plant-7', [{ name: 'pump', schema: PUMP }]);
  for (const temperature of [80, 97, 80, 98, 80]) flush(temperature);
  visit = await rig.visit('#watch=plant-7/pump');
  await visit.part('pump', 'received').waitFor();
});

afterAll(async () => {
  await visit.close();
  await node.stop();
});

const part = (testId: string) => visit.page.getByTestId(testId);
const alarm = () => visit.page.locator('[data-testid=alarm][data-rule=Hot]');

it('begins with a rule of what the page shows', async () => {
  await part('open-alarms').click();
  await part('no-alarms').waitFor();
  await part('open-rules').click();
  await part('rule-new').click();
  await expect
    .poll(() => part('rule-text').inputValue())
    .toContain('input source = "plant-7/pump" : Plant::Pump;');
  await expect.poll(() => part('rule-findings').getAttribute('data-errors')).toBe('0');
  // As `oasis rules fmt` lays it out.
  expect(await part('rule-format').isDisabled()).toBe(true);
  expect(await part('checked-rule').textContent()).toMatch(/High: alarm high, 1 instance/);
});

it('marks errors while somebody types, and goes to their place', async () => {
  await part('rule-text').fill(HOT.replace('pump.temperature > 95', 'pump.temprature > 95'));
  await expect.poll(() => part('rule-diagnostic').count()).toBe(1);
  expect(await part('rule-diagnostic').textContent()).toContain('temperature');
  expect(await visit.page.locator('.code-line .is-error').textContent()).toBe('temprature');
  await part('rule-diagnostic').getByRole('button').click();
  const chosen = await part('rule-text').evaluate((area: HTMLTextAreaElement) =>
    area.value.slice(area.selectionStart, area.selectionEnd),
  );
  expect(chosen).toBe('temprature');
});

it('warns of an alarm that the same values raise and clear, and does not count that as an error', async () => {
  await part('rule-text').fill(HOT.replace('temperature < 90', 'temperature < 99'));
  await expect.poll(() => part('rule-diagnostic').textContent()).toMatch(/Warning R0029.*such as 97 Cel/);
  expect(await part('rule-findings').getAttribute('data-errors')).toBe('0');
  expect(await part('rule-text').getAttribute('aria-invalid')).toBe('false');
  expect(await visit.page.locator('.code-line.is-warned').count()).toBe(1);
  await part('rule-preview').click();
  await expect.poll(() => part('rule-would').textContent()).toContain('Hot would have raised');
});

it('completes metrics of the running DAC', async () => {
  await part('rule-text').fill(HOT.replace('pump.temperature > 95 Cel', 'pump.te'));
  await part('rule-text').evaluate((area: HTMLTextAreaElement) => {
    const at = area.value.indexOf('pump.te;') + 'pump.te'.length;
    area.setSelectionRange(at, at);
  });
  await part('rule-text').press('Control+Space');
  await expect.poll(() => part('completion').first().textContent()).toContain('temperature');
  await part('rule-text').press('Enter');
  expect(await part('rule-text').inputValue()).toContain('raise pump.temperature;');
});

it('previews a text on the past before it is saved', async () => {
  await part('rule-text').fill(HOT);
  await part('rule-preview').click();
  await expect
    .poll(() => part('rule-would').textContent())
    .toBe('Hot would have raised 2 times, cleared 2 times');
  expect(await part('rule-result').getByTestId('alarm-entry').count()).toBe(4);
  await expect.poll(() => part('rule-result').locator('canvas').count()).toBe(1);
});

it('shows the first letters after a long line, and says that a name is missing', async () => {
  const long = `// ${'pump '.repeat(200)}`;
  await part('rule-text').fill('');
  await part('rule-text').focus();
  await visit.page.keyboard.insertText(`${HOT}${long}`);
  const field = part('rule-text');
  const scrolled = () => field.evaluate((area) => area.closest('.code')?.scrollLeft);
  await field.press('ArrowLeft');
  await expect.poll(scrolled).toBeGreaterThan(0);
  await field.press('Home');
  await expect.poll(scrolled).toBe(0);
  await field.fill(HOT);
  await field.press('Control+s');
  await part('rule-unnamed').waitFor();
  expect(await part('rule-name').evaluate((name) => name === document.activeElement)).toBe(true);
});

it('saves a file, whose alarm the DAC then raises for everybody', async () => {
  await part('rule-name').fill('pumps');
  await part('rule-text').press('Control+S');
  await expect.poll(() => part('rule-name').textContent()).toBe('pumps.rules');
  await part('rule-back').click();
  await expect.poll(() => visit.page.locator('[data-testid=rule-row][data-rule=Hot]').count()).toBe(1);
  await expect.poll(() => part('rule-file-line').getAttribute('data-state')).toBe('loaded');
  flush(99);
  await expect.poll(() => alarm().getAttribute('data-state')).toBe('active');
  expect(await alarm().textContent()).toMatch(/Pump pump is hot.*/);
  await expect.poll(() => visit.page.title()).toBe('(1) OASIS');
  await alarm().getByTestId('acknowledge').click();
  await expect.poll(() => visit.page.title()).toBe('OASIS');
  flush(80);
  await expect.poll(() => alarm().count()).toBe(0);
});

it('says that nobody gets its mail, because no server answers', async () => {
  await part('open-destinations').click();
  const line = part('destination');
  await expect.poll(() => line.getAttribute('data-state')).toBe('failing');
  expect(await line.getAttribute('data-name')).toBe('operators');
  await part('destination-test').click();
  await expect.poll(() => part('destination-outcome').textContent()).toMatch(/^Test failed: operators/);
  await part('open-destinations').click();
  // The refused request is on the console.
  visit.complaints.splice(0);
});

it('explains it afterwards from the journal', async () => {
  await part('open-alarm-history').click();
  const entries = visit.page.locator('[data-testid=alarm-entry][data-rule=Hot]');
  await expect.poll(() => entries.count()).toBeGreaterThanOrEqual(3);
  await visit.page
    .locator('[data-testid=alarm-entry][data-kind=raised]')
    .first()
    .getByTestId('entry-why')
    .click();
  await expect.poll(() => part('why-inputs').textContent()).toMatch(/temperature.*99/);
  await part('dialog-close').click();
});

it('saves over nobody else', async () => {
  await part('rule-file').first().click();
  await part('rule-text').fill(`// mine\n${HOT}`);
  const file = `${rig.oasis.url}/api/v1/rules/files/pumps.rules`;
  const { revision } = (await (await fetch(file)).json()) as { revision: string };
  const theirs = await fetch(file, {
    method: 'PUT',
    body: JSON.stringify({ text: `// theirs\n${HOT}`, revision }),
  });
  expect(theirs.status).toBe(200);
  await part('rule-save').click();
  await part('rule-conflict').waitFor();
  await part('rule-overwrite').click();
  await part('rule-save').click();
  await expect
    .poll(async () => ((await (await fetch(file)).json()) as { text: string }).text)
    .toContain('// mine');
  await part('rule-back').click();
  // The refused request is on the console.
  visit.complaints.splice(0);
});

it('keeps an expression on the server', async () => {
  await part('expression-add').first().click();
  await part('expression').fill('pump.temperature * 2');
  await part('expression-keep').click();
  await expect.poll(() => part('rule-text').inputValue()).toContain('value = pump.temperature * 2;');
  await expect.poll(() => part('rule-findings').getAttribute('data-errors')).toBe('0');
  // As `oasis rules fmt` lays it out.
  expect(await part('rule-format').isDisabled()).toBe(true);
  await part('rule-save').click();
  await expect.poll(() => part('rule-name').textContent()).toBe('Pump_temperature.rules');
  await expect
    .poll(async () => {
      flush(80);
      const { instances } = (await (await fetch(`${rig.oasis.url}/api/v1/instances`)).json()) as {
        instances: { node: string; instance: string }[];
      };
      return instances.some(
        ({ node, instance }) => node === 'rules' && instance.includes('Pump_temperature'),
      );
    })
    .toBe(true);
  expect(visit.complaints).toEqual([]);
});

it('deletes a file after a second click, and its rules end', async () => {
  await part('rule-back').click();
  await visit.page.locator('[data-testid=rule-file][data-name="pumps.rules"]').click();
  await part('rule-delete').click();
  await part('rule-delete-sure').click();
  await expect.poll(() => visit.page.locator('[data-testid=rule-row][data-rule=Hot]').count()).toBe(0);
});
