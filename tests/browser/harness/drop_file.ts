import type { Visit } from './browser.ts';

/** Drops a file on the page, as a file manager does. */
export function dropFile(visit: Visit, name: string, text: string): Promise<void> {
  return visit.page.evaluate(
    ([file, content]) => {
      const data = new DataTransfer();
      data.items.add(new File([content], file));
      for (const type of ['dragover', 'drop']) {
        const event = new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true });
        if (document.body.dispatchEvent(event)) throw new Error(`${type} is left to the browser`);
      }
    },
    [name, text],
  );
}
