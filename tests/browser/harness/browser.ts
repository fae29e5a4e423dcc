import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  firefox,
  type Locator,
  type Page,
} from 'playwright-core';

const FIREFOX = fileURLToPath(new URL('firefox.mjs', import.meta.url));
const ARTIFACTS = fileURLToPath(new URL('../artifacts/', import.meta.url));

/** Timeout that suffices on a busy machine. */
const LOADED_MS = 60_000;

export interface LaunchOptions {
  /** Chromium by default; `OASIS_BROWSER` chooses for tests that do not. */
  readonly browser?: 'chromium' | 'firefox';
  /** Whether scrollbars take room, as on most desktops. */
  readonly scrollbars?: boolean;
  /** Whether pages can draw with WebGL, by the processor. */
  readonly webgl?: boolean;
  /** SHA-256 of the key of a server that is trusted, in base64. */
  readonly trustedKey?: string;
}

export function launch({
  browser,
  scrollbars = false,
  webgl = false,
  trustedKey,
}: LaunchOptions = {}): Promise<Browser> {
  if ((browser ?? process.env.OASIS_BROWSER) === 'firefox') {
    return firefox.launch({ channel: 'moz-firefox', executablePath: FIREFOX });
  }
  return chromium.launch({
    ignoreDefaultArgs: scrollbars ? ['--hide-scrollbars'] : [],
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    // Chromium's sandbox does not run as root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      ...(webgl ? ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'] : ['--disable-gpu']),
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...(trustedKey ? [`--ignore-certificate-errors-spki-list=${trustedKey}`] : []),
    ],
  });
}

let shared: Browser | undefined;

/** Returns the browser of this worker, in which each visit is a context of its own; it ends with the worker. */
export async function sharedBrowser(): Promise<Browser> {
  if (!shared?.isConnected()) {
    const browser = await launch();
    atWorkerEnd(() => browser.close());
    shared = browser;
  }
  return shared;
}

/** Closes all contexts of the shared browser, so that no page of a test or a file outlives it. */
export async function closeVisits(): Promise<void> {
  await Promise.all((shared?.contexts() ?? []).map((context) => context.close()));
}

/** The browser's own messages for servers that are gone: a reused connection may break in each of these ways. */
const GONE =
  /ERR_CONNECTION_(REFUSED|RESET|CLOSED)|ERR_SOCKET_NOT_CONNECTED|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED_ENCODING|WebSocket/;

/** Without a graphics processor the browser reads back the pixels of WebGL, and reports that this is slow. */
const SOFTWARE_DRAWING = /GL Driver Message .*GPU stall due to ReadPixels/;

/** A visit of the page in a browser context of its own, with its complaints. */
export class Visit {
  /** Errors on the console, uncaught exceptions, and breaches of the content security policy. */
  readonly complaints: string[] = [];
  private isStyled = false;

  private constructor(readonly page: Page) {
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.complain(message.text());
    });
    page.on('pageerror', (error) => this.complain(String(error)));
    page.on('dialog', (dialog) => {
      this.complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  static async to(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visit> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    const visit = new Visit(await context.newPage());
    await visit.page.addInitScript(() => {
      addEventListener('securitypolicyviolation', (event) =>
        console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`),
      );
    });
    await visit.page.goto(url);
    return visit;
  }

  /** The complaints of the page itself. */
  ownComplaints(): string[] {
    return this.complaints.filter((text) => !GONE.test(text));
  }

  private complain(text: string): void {
    if (SOFTWARE_DRAWING.test(text)) return;
    if (!this.isStyled || !/style-src-elem/.test(text)) this.complaints.push(text);
  }

  card(instance: string): Locator {
    return this.page.locator(cardOf(instance));
  }

  /** A part of a card by its `data-testid`. */
  part(instance: string, testId: string): Locator {
    return this.card(instance).getByTestId(testId);
  }

  /** Waits until the sequence number of an instance has changed `times` times. */
  async seesSamples(instance: string, times: number, timeout = LOADED_MS): Promise<void> {
    await this.part(instance, 'sequence').first().waitFor({ timeout });
    await this.page.waitForFunction(
      ([selector, wanted]) => {
        // Looked for each time: a card may be replaced meanwhile.
        const watched = document.querySelector(selector) as (HTMLElement & { seen?: Set<string> }) | null;
        if (!watched) return false;
        watched.seen ??= new Set();
        if (/\d/.test(watched.textContent ?? '')) watched.seen.add(watched.textContent ?? '');
        if (watched.seen.size <= wanted) return false;
        delete watched.seen;
        return true;
      },
      [`${cardOf(instance)} [data-testid=sequence]`, times] as const,
      { timeout, polling: 'raf' },
    );
  }

  /** Writes what the page shows to `artifacts` if `OASIS_SCREENSHOTS` is set: for people, no test reads it. */
  async screenshot(name: string): Promise<void> {
    if (!process.env.OASIS_SCREENSHOTS) return;
    mkdirSync(ARTIFACTS, { recursive: true });
    // Playwright adds a style to the page of Firefox, which reports it as a breach of the page's policy.
    this.isStyled = this.page.context().browser()?.browserType().name() === 'firefox';
    await this.page.screenshot({ path: `${ARTIFACTS}${name}.png`, fullPage: true, caret: 'initial' });
    await this.page.evaluate(() => new Promise(requestAnimationFrame));
    this.isStyled = false;
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}

/** Finds the card of an instance. */
function cardOf(instance: string): string {
  return `[data-testid=card][data-instance=${JSON.stringify(instance)}]`;
}
