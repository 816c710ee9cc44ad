/** The built page in a real browser. Without Chromium the tests that need it are skipped, and say so. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { build } from 'vite';
import { describe } from 'vitest';
import type { FakeTurn, Play } from './fake-dialog.js';
import { FakeGateway, type FakeGatewayOptions } from './fake-gateway.js';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const flags = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

export function describeInBrowser(name: string, tests: () => void): void {
  if (!executablePath) {
    console.warn(`SKIPPED "${name}": no Chromium in /usr/bin. Install it with: apt-get install -y chromium`);
  }
  describe.skipIf(!executablePath)(name, tests);
}

/** Builds the page into a folder of its own and starts the browser. Once per test file. */
export class PageBench {
  readonly #browser: Browser;
  readonly #folder: string;
  readonly #gateways: FakeGateway[] = [];

  private constructor(browser: Browser, folder: string) {
    this.#browser = browser;
    this.#folder = folder;
  }

  static async start(): Promise<PageBench> {
    const folder = await mkdtemp(join(tmpdir(), 'picobot-page-'));
    const configFile = fileURLToPath(new URL('../../channels/websocket/page/vite.config.ts', import.meta.url));
    await build({ configFile, logLevel: 'error', build: { outDir: folder, emptyOutDir: true } });
    const browser = await chromium.launch({ executablePath: executablePath ?? '', args: flags });
    return new PageBench(browser, folder);
  }

  get pageFolder(): string {
    return this.#folder;
  }

  /** A gateway of its own, and the page on it. `errors`: what the page wrote to the console as an error. */
  async open(
    options: Omit<FakeGatewayOptions, 'pageFolder'>,
    settings: { context?: BrowserContextOptions; hash?: string; prepare?: (gateway: FakeGateway) => void } = {},
  ): Promise<{ gateway: FakeGateway; page: Page; errors: string[]; url: string }> {
    const gateway = new FakeGateway({ ...options, pageFolder: this.#folder });
    this.#gateways.push(gateway);
    settings.prepare?.(gateway);
    const url = await gateway.listen();
    const context = await this.#browser.newContext({ locale: 'en-US', colorScheme: 'light', ...settings.context });
    const page = await context.newPage();
    page.setDefaultTimeout(8000);
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    await page.goto(`${url}/${settings.hash ?? ''}`);
    return { gateway, page, errors, url };
  }

  /** Ends what a test has opened. */
  async clear(): Promise<void> {
    for (const context of this.#browser.contexts()) await context.close();
    for (const gateway of this.#gateways.splice(0)) await gateway.close();
  }

  async close(): Promise<void> {
    await this.clear();
    await this.#browser.close();
    await rm(this.#folder, { recursive: true });
  }
}

export interface HeldTurn extends FakeTurn {
  /** Ends the turn. Stop ends it too. */
  finish(): void;
}

/** Turns that wait until the test has played them. */
export class HeldTurns {
  readonly #arrived: HeldTurn[] = [];
  readonly #wanted: ((turn: HeldTurn) => void)[] = [];

  readonly play: Play = (turn) =>
    new Promise((resolve) => {
      turn.signal.addEventListener('abort', () => resolve());
      const held = Object.assign(turn, { finish: resolve });
      const want = this.#wanted.shift();
      if (want) want(held);
      else this.#arrived.push(held);
    });

  next(): Promise<HeldTurn> {
    const turn = this.#arrived.shift();
    return turn ? Promise.resolve(turn) : new Promise((resolve) => this.#wanted.push(resolve));
  }
}

export async function send(page: Page, text: string): Promise<void> {
  await page.locator('#composer').fill(text);
  await page.locator('#composer').press('Enter');
}
