import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, HeldTurns, PageBench, send } from './browser.js';
import type { FakeGateway } from './fake-gateway.js';

describeInBrowser('the page in a browser: dialogs', () => {
  let bench: PageBench;
  beforeAll(async () => {
    bench = await PageBench.start();
  }, 60_000);
  afterEach(() => bench.clear());
  afterAll(() => bench.close());

  const twoDialogs = (gateway: FakeGateway) => {
    for (const [id, title] of [
      ['default', 'Tea'],
      ['d_2', 'Trains'],
    ] as const) {
      const dialog = gateway.dialog(id);
      dialog.title = title;
      dialog.seed(`About ${title}?`, `All about ${title}.`);
    }
  };
  const open = () => bench.open(new HeldTurns(), { prepare: twoDialogs });

  test('the list switches between dialogs, and the URL keeps the place', async () => {
    const { page } = await open();
    await page.getByText('All about Tea.').waitFor();
    await page.getByRole('link', { name: 'Trains' }).click();
    await page.getByText('All about Trains.').waitFor();
    expect(new URL(page.url()).hash).toBe('#d_2');
    expect(await page.locator('[aria-current=page]').textContent()).toBe('Trains');
    expect(await page.title()).toBe('Trains – PicoBot');
    await page.reload();
    await page.getByText('All about Trains.').waitFor();
    await page.goBack();
    await page.getByText('All about Tea.').waitFor();
  });

  test('a new dialog is opened with the keyboard, greets, and gets a title from its first message', async () => {
    const turns = new HeldTurns();
    const { page } = await bench.open(turns, { prepare: twoDialogs });
    await page.getByText('All about Tea.').waitFor();
    await page.keyboard.press('Control+Shift+O');
    await page.getByText('What can I do for you?').waitFor();
    expect(new URL(page.url()).hash).toBe('#d_new1');
    await page.getByRole('button', { name: 'What is 17 × 23?' }).click();
    const turn = await turns.next();
    expect(turn.dialog.dialogId).toBe('d_new1');
    turn.say('391');
    turn.finish();
    await page.getByRole('link', { name: 'What is 17 × 23?' }).waitFor();
    await page.getByRole('heading', { level: 1, name: 'What is 17 × 23?' }).waitFor();
  });

  test('a dialog in which nothing was said is used again instead of making another', async () => {
    const { page, gateway } = await open();
    await page.getByText('All about Tea.').waitFor();
    const button = page.locator('.new-dialog');
    await button.click();
    await page.getByText('What can I do for you?').waitFor();
    await button.click();
    await page.getByText('What can I do for you?').waitFor();
    expect([...gateway.dialogs.keys()]).toEqual(['default', 'd_2', 'd_new1']);
  });

  test('renaming: Enter keeps the new title, Escape the old one', async () => {
    const { page, gateway } = await open();
    const rename = async (from: string, to: string, key: string) => {
      await page.getByRole('button', { name: `Actions for “${from}”` }).click();
      await page.getByRole('menuitem', { name: 'Rename' }).click();
      await page.getByRole('textbox', { name: 'New title' }).fill(to);
      await page.keyboard.press(key);
    };
    await rename('Trains', 'Night trains', 'Enter');
    await page.getByRole('link', { name: 'Night trains' }).waitFor();
    await rename('Night trains', 'Planes', 'Escape');
    await page.getByRole('link', { name: 'Night trains' }).waitFor();
    expect(gateway.dialog('d_2').title).toBe('Night trains');
  });

  test('deleting asks first, then goes on to another dialog', async () => {
    const { page, gateway } = await open();
    await page.getByText('All about Tea.').waitFor();
    const remove = async () => {
      await page.getByRole('button', { name: 'Actions for “Tea”' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
    };
    await remove();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(gateway.dialog('default').isDeleted).toBe(false);
    await remove();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('All about Trains.').waitFor();
    expect(gateway.dialog('default').isDeleted).toBe(true);
    expect(await page.getByRole('link', { name: 'Tea' }).count()).toBe(0);
  });

  test('after the last dialog is deleted the first one greets again', async () => {
    const { page } = await bench.open(new HeldTurns(), {
      prepare: (gateway) => {
        gateway.dialog('default').title = 'Tea';
        gateway.dialog('default').seed('q', 'All about Tea.');
      },
    });
    await page.getByText('All about Tea.').waitFor();
    await page.getByRole('button', { name: 'Actions for “Tea”' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('What can I do for you?').waitFor();
  });

  test('a slash command that makes or deletes a dialog takes the page along', async () => {
    const { page } = await bench.open(
      {
        play: async ({ text, dialog, gateway, notice }) => {
          notice('Done.');
          if (text === '/delete') dialog.isDeleted = true;
          else gateway.makeCurrent(gateway.dialog('d_3'));
        },
      },
      { prepare: twoDialogs },
    );
    await page.getByText('All about Tea.').waitFor();
    await send(page, '/new');
    await page.getByText('What can I do for you?').waitFor();
    expect(new URL(page.url()).hash).toBe('#d_3');
    await send(page, '/delete');
    await page.getByText('All about').waitFor();
    expect(new URL(page.url()).hash).not.toBe('#d_3');
  });

  test('an archived dialog leaves the list and comes back from the archive', async () => {
    const { page, gateway } = await open();
    await page.getByRole('button', { name: 'Actions for “Trains”' }).click();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Trains' }).waitFor({ state: 'detached' });
    expect(gateway.dialog('d_2').isArchived).toBe(true);
    await page.getByRole('button', { name: 'Show archived' }).click();
    await page.getByRole('link', { name: 'Trains' }).waitFor();
    await page.getByRole('button', { name: 'Actions for “Trains”' }).click();
    await page.getByRole('menuitem', { name: 'Restore' }).click();
    await page.getByText('Nothing is archived.').waitFor();
    await page.getByRole('button', { name: 'Back to dialogs' }).click();
    await page.getByRole('link', { name: 'Trains' }).waitFor();
  });

  test('a dialog that does not exist says so, and offers a new one', async () => {
    const { page } = await bench.open(new HeldTurns(), { prepare: twoDialogs, hash: '#d_gone' });
    await page.getByText('This dialog does not exist').waitFor();
    expect(await page.locator('#composer').isDisabled()).toBe(true);
    await page.locator('.empty').getByRole('button', { name: 'New dialog' }).click();
    await page.getByText('What can I do for you?').waitFor();
  });

  test('what was typed stays with its dialog', async () => {
    const { page } = await open();
    await page.getByText('All about Tea.').waitFor();
    await page.locator('#composer').fill('a draft about tea');
    await page.getByRole('link', { name: 'Trains' }).click();
    await page.getByText('All about Trains.').waitFor();
    expect(await page.locator('#composer').inputValue()).toBe('');
    await page.getByRole('link', { name: 'Tea' }).click();
    await page.getByText('All about Tea.').waitFor();
    expect(await page.locator('#composer').inputValue()).toBe('a draft about tea');
  });

  test('of 5,000 messages all can be reached, the reader keeps the place, and streaming stays quick', async () => {
    const turns = new HeldTurns();
    const { page } = await bench.open(turns, {
      prepare: (gateway) => {
        for (let index = 0; index < 2500; index++) {
          gateway
            .dialog('default')
            .seed(`Question ${index}`, `Answer **${index}** with a few words more, and \`code\`.`);
        }
      },
    });
    await page.getByText('Question 2499').waitFor();
    const frames = () =>
      page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    const rows = page.locator('.row');
    /** How far a message is from the top of the window, in steps of 4 pixels. */
    const place = (text: string) =>
      page.getByText(text, { exact: true }).evaluate((element) => Math.round(element.getBoundingClientRect().top / 4));

    for (const scrollTop of [400, 0]) {
      const known = await rows.count();
      const text = (await page.locator('.bubble').nth(2).textContent()) ?? '';
      await page.locator('.scroller').evaluate((element, top) => {
        element.scrollTop = top;
      }, scrollTop);
      const before = await place(text);
      while ((await rows.count()) === known) await frames();
      await frames();
      expect(await place(text)).toBe(before);
    }

    await page.evaluate(`(async () => {
      while (document.querySelectorAll('.row').length < 5000) {
        document.querySelector('.scroller').scrollTop = 0;
        await new Promise(requestAnimationFrame);
      }
    })()`);
    await page.getByText('Question 0', { exact: true }).waitFor();

    await page.evaluate(`{
      window.longestMs = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.longestMs = Math.max(window.longestMs, entry.duration);
      }).observe({ entryTypes: ['longtask'] });
    }`);
    await send(page, 'One more');
    const turn = await turns.next();
    for (let index = 0; index < 200; index++) turn.say(`word${index} `);
    await page.locator('.growing', { hasText: 'word199' }).waitFor();
    await page.locator('#composer').pressSequentially('typing meanwhile');
    turn.finish();
    await page.locator('.stop').waitFor({ state: 'detached' });
    const longestMs = (await page.evaluate('window.longestMs')) as number;
    console.info(`5,000 messages: longest task while an answer streams ${Math.round(longestMs)} ms`);
    // Far above what it takes, for a busy machine; drawing the history again takes longer.
    expect(longestMs).toBeLessThan(800);
  }, 120_000);
});
