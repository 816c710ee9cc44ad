import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, HeldTurns, PageBench, send } from './browser.js';
import type { FakeGateway } from './fake-gateway.js';

const background = (page: Page) => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
const white = 'rgb(253, 252, 250)';
const black = 'rgb(25, 25, 23)';
const teaDialog = (gateway: FakeGateway) => {
  gateway.dialog('default').title = 'Tea';
  gateway.dialog('default').seed('Which tea?', 'Oolong, as you **like**.');
};

describeInBrowser('the page in a browser: safety, languages, looks', () => {
  let bench: PageBench;
  beforeAll(async () => {
    bench = await PageBench.start();
  }, 60_000);
  afterEach(() => bench.clear());
  afterAll(() => bench.close());

  test('nothing that a model writes runs, loads, or looks like the page', async () => {
    const evil = [
      '<script>window.hit = 1</script><img src=x onerror="window.hit = 2"><svg onload="window.hit = 3">',
      '[a link](javascript:window.hit=4) [b](data:text/html,<script>window.hit=5</script>) [c](vbscript:x)',
      '[d](JaVaScRiPt&#58;window.hit=6) <a href="javascript:window.hit=7">e</a> [f](//evil.example/x) [g](#d_other)',
      '![leak](https://evil.example/pixel.png) ![x](x" onerror="window.hit=8)',
      '```html"><img src=x onerror=window.hit=9>\n</code></pre><script>window.hit=10</script>\n```',
      '<div class="toast" style="position:fixed">fake</div><form action="https://evil.example"><input name=a></form>',
      '<iframe srcdoc="<script>parent.hit=11</script>"></iframe><math><mi xlink:href="javascript:window.hit=12">m',
      '| a |\n|---|\n| <img src=x onerror=window.hit=13> |',
      '[ref][r]\n\n[r]: javascript:window.hit=14\n\n<kbd onclick="window.hit=15">k</kbd> <br onload=x> <kbd>ok</kbd>',
    ];
    const turns = new HeldTurns();
    const { page, errors, gateway } = await bench.open(turns, {
      prepare: (fake) => fake.dialog('default').seed('<img src=x onerror="window.hit=20">', evil.join('\n\n')),
    });
    const outside: string[] = [];
    page.on('request', (request) => outside.push(request.url()));
    await send(page, '**<b onclick=x>bold?</b>**');
    const turn = await turns.next();
    const finish = turn.callTool('<img src=x onerror=window.hit=21>', { '<b>': '<img src=x onerror=window.hit=22>' });
    finish('<script>window.hit=23</script>');
    for (const part of evil) turn.say(`${part}\n\n`);
    turn.notice('<img src=x onerror="window.hit=24"> [n](javascript:window.hit=25)');
    turn.finish();
    await page.getByRole('button', { name: 'Stop the answer' }).waitFor({ state: 'detached' });
    for (const link of await page.locator('.markdown a').all()) await link.click({ force: true, noWaitAfter: true });
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(
      await page.locator('.column :is(script, iframe, form, svg[onload], math, input[name], [style])').count(),
    ).toBe(0);
    expect(await page.locator('.markdown .toast').count()).toBe(0);
    expect(await page.locator('.markdown :is([onerror], [onclick], [onload])').count()).toBe(0);
    const hrefs = await page
      .locator('.markdown a[href]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    expect(new Set(hrefs)).toEqual(new Set(['https://evil.example/pixel.png']));
    expect(outside.filter((url) => url.includes('evil'))).toEqual([]);
    expect(await page.locator('.markdown kbd').allInnerTexts()).toContain('ok');
    expect(await page.locator('.bubble').first().textContent()).toBe('<img src=x onerror="window.hit=20">');
    expect(errors.filter((error) => !error.includes('evil.example'))).toEqual([]);
    expect(gateway.requests.filter((path) => !/ \/(api|assets|$|theme|favicon)/.test(path))).toEqual([]);
  });

  test('links open elsewhere and tell nothing about this page', async () => {
    const { page } = await bench.open(new HeldTurns(), {
      prepare: (gateway) =>
        gateway.dialog('default').seed('q', '[docs](https://example.com/a) and https://example.com/b'),
    });
    const links = page.locator('.markdown a');
    await links.first().waitFor();
    for (const link of await links.all()) {
      expect(await link.getAttribute('target')).toBe('_blank');
      expect(await link.getAttribute('rel')).toContain('noopener');
    }
    expect(await links.count()).toBe(2);
  });

  test('the button of a code block copies the code', async () => {
    const code = 'if (a < b && c) {\n  return "x";\n}';
    const { page } = await bench.open(new HeldTurns(), {
      prepare: (gateway) => gateway.dialog('default').seed('q', `Here:\n\n\`\`\`ts\n${code}\n\`\`\``),
      context: { permissions: ['clipboard-read', 'clipboard-write'] },
    });
    await page.locator('.code button').click();
    await page.locator('.code button[data-note=Copied]').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(code);
  });

  test('Enter that confirms a word of an input method does not send; the next Enter does', async () => {
    const turns = new HeldTurns();
    const { page, gateway } = await bench.open(turns);
    const composer = page.locator('#composer');
    await composer.focus();
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Input.imeSetComposition', { text: 'nihao', selectionStart: 5, selectionEnd: 5 });
    // As Chromium and Firefox say it, then as Safari says it.
    await composer.dispatchEvent('keydown', { key: 'Enter', isComposing: true });
    await composer.dispatchEvent('keydown', { key: 'Enter', keyCode: 229 });
    await devtools.send('Input.insertText', { text: '你好' });
    expect(await composer.inputValue()).toBe('你好');
    expect(gateway.dialog('default').messages).toEqual([]);
    await composer.press('Shift+Enter');
    await composer.pressSequentially('!');
    await composer.press('Enter');
    expect((await turns.next()).text).toBe('你好\n!');
    expect(await composer.inputValue()).toBe('');
  });

  test('a message that is too long for one frame is kept in the box', async () => {
    const { page } = await bench.open(new HeldTurns());
    await page.locator('.sidebar').getByText('Connected').waitFor();
    await page.locator('#composer').fill('字'.repeat(340_000));
    await page.locator('#composer').press('Enter');
    await page.getByText('This message is too long. Send it in parts.').waitFor();
    expect(await page.locator('.bubble').count()).toBe(0);
  });

  test('dark and light follow the system, and the choice made here wins and stays', async () => {
    const { page } = await bench.open(new HeldTurns());
    await page.locator('#composer').waitFor();
    expect(await background(page)).toBe(white);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await background(page)).toBe(black);
    await page.getByRole('button', { name: 'Switch to the light theme' }).click();
    expect(await background(page)).toBe(white);
    await page.reload();
    await page.getByRole('button', { name: 'Switch to the dark theme' }).waitFor();
    expect(await background(page)).toBe(white);
    await page.getByRole('button', { name: 'Switch to the dark theme' }).click();
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await background(page)).toBe(white);
  });

  test('a Chinese browser gets a Chinese page', async () => {
    const { page } = await bench.open(
      { ...new HeldTurns(), model: 'demo/pico' },
      { context: { locale: 'zh-CN' }, prepare: (gateway) => void gateway.dialog('default') },
    );
    await page.getByText('有什么可以帮你?'.replace('?', '\uff1f')).waitFor();
    await page.getByText('当前使用的是内置演示模型。').waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
    expect(await page.locator('#composer').getAttribute('placeholder')).toBe('给 PicoBot 发消息…');
    const names =
      /PicoBot|Enter|Shift|demo\/pico|AI|DeepSeek|OpenAI|Anthropic|~\/\.picobot\/[\w.]+|\w+_API_KEY=sk|agent\.model/g;
    const letters = ((await page.locator('#app').textContent()) ?? '').replace(names, '');
    expect(letters).not.toMatch(/[a-z]{2,}/i);
  });

  test('the demo model says that it is one, and how to add a key', async () => {
    const { page } = await bench.open({ ...new HeldTurns(), model: 'demo/pico' });
    await page.getByText('This is the built-in demo model.').click();
    await page.getByText('DEEPSEEK_API_KEY=').waitFor();
    await page.getByRole('button', { name: 'Hide this notice' }).click();
    expect(await page.locator('.banner').count()).toBe(0);
  });

  test('with a real model there is no banner', async () => {
    const { page } = await bench.open(new HeldTurns());
    await page.locator('.about-model').waitFor();
    expect(await page.locator('.banner').count()).toBe(0);
  });

  test('a browser without the token is told what to do, and does not ask again and again', async () => {
    const { page, gateway } = await bench.open({ ...new HeldTurns(), isSignedIn: () => false });
    await page.getByText('This browser is not signed in').waitFor();
    const asked = gateway.requests.length;
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 0))');
    expect(gateway.requests.length).toBe(asked);
  });

  test('on a phone the dialogs are a drawer, nothing is wider than the screen, and fingers find the buttons', async () => {
    const { page } = await bench.open(new HeldTurns(), {
      prepare: (gateway) => {
        gateway.dialog('default').title = 'Tea';
        gateway
          .dialog('default')
          .seed('q', `| a | b |\n|---|---|\n| ${'wide'.repeat(60)} | x |\n\n\`\`\`\n${'long '.repeat(80)}\n\`\`\``);
        gateway.dialog('d_2').title = 'Trains';
        gateway.dialog('d_2').seed('When?', 'At nine.');
      },
      context: { viewport: { width: 375, height: 667 }, isMobile: true, hasTouch: true },
    });
    await page.locator('.code').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);
    expect(await page.locator('.scroller').evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(
      true,
    );
    expect(await page.getByRole('link', { name: 'Trains' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show dialogs' }).tap();
    await page.getByRole('link', { name: 'Trains' }).tap();
    await page.getByText('At nine.').waitFor();
    await page.locator('.sidebar.open').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show dialogs' }).tap();
    await page.getByRole('link', { name: 'Tea' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.sidebar.open').waitFor({ state: 'detached' });
    const sizes = await page
      .locator('.header .icon-button:visible, .composer .round')
      .evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().height));
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(40);
  });

  test('everything is reached with the keyboard, and the focus is visible', async () => {
    const { page } = await bench.open(new HeldTurns(), { prepare: teaDialog });
    await page.getByText('Oolong').waitFor();
    // Backwards from the message box, where the focus is at first, to the first element.
    const names: string[] = [];
    for (;;) {
      const focused = (await page.evaluate(`{
        const element = document.activeElement;
        ({ name: element.getAttribute('aria-label') || element.textContent, outline: getComputedStyle(element).outlineStyle, tag: element.tagName });
      }`)) as { name: string; outline: string; tag: string };
      if (focused.tag === 'BODY') break;
      names.push(focused.name);
      // The message box shows it on its border.
      if (focused.tag !== 'TEXTAREA') expect(focused.outline, focused.name).toBe('solid');
      await page.keyboard.press('Shift+Tab');
    }
    expect(names.at(-1)).toBe('Skip to the message box');
    for (const name of ['New dialog', 'Tea', 'Conversation', 'Copy the answer', 'Message'])
      expect(names).toContain(name);
  });

  test('the first load is small and asks nobody else', async () => {
    const { page } = await bench.open(new HeldTurns(), { prepare: teaDialog });
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    await page.reload();
    await page.getByText('Oolong').waitFor();
    const origin = new URL(page.url()).origin.replace('http', '(http|ws)');
    for (const url of requested) expect(url).toMatch(new RegExp(`^${origin}/`));
    const files = (await readdir(bench.pageFolder, { recursive: true, withFileTypes: true })).filter((file) =>
      file.isFile(),
    );
    const bytes = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name))));
    const sum = (compress: (data: Buffer) => Buffer) => bytes.reduce((total, data) => total + compress(data).length, 0);
    console.info(`first load: ${sum(gzipSync)} bytes with gzip, ${sum(brotliCompressSync)} with brotli`);
    expect(sum(gzipSync)).toBeLessThan(100_000);
  });
});
