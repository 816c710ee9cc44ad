import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, HeldTurns, PageBench, send } from './browser.js';

describeInBrowser('the page in a browser: a conversation', () => {
  let bench: PageBench;
  beforeAll(async () => {
    bench = await PageBench.start();
  }, 60_000);
  afterEach(() => bench.clear());
  afterAll(() => bench.close());

  test('an answer streams in and ends, and nothing of it is shown twice', async () => {
    const turns = new HeldTurns();
    const { page, errors } = await bench.open(turns);
    await send(page, 'Hello');
    const turn = await turns.next();
    await page.getByText('Working…').waitFor({ state: 'attached' });
    turn.say('Hello, **wor');
    await page.locator('.growing', { hasText: 'Hello, **wor' }).waitFor();
    turn.say('ld**!');
    await page.locator('.growing strong', { hasText: 'world' }).waitFor();
    turn.finish();
    await page.getByRole('button', { name: 'Copy the answer' }).waitFor();
    expect(await page.locator('.message.user').allInnerTexts()).toEqual([expect.stringMatching(/^Hello\n/)]);
    expect(await page.locator('.message.assistant').allInnerTexts()).toEqual(['Hello, world!']);
    expect(await page.locator('[aria-live=polite]').textContent()).toBe('Hello, world!');
    expect(errors).toEqual([]);
  });

  test('many deltas are drawn at most once per frame, and the history not at all', async () => {
    const turns = new HeldTurns();
    const { page } = await bench.open(turns, {
      prepare: (gateway) => gateway.dialog('default').seed('q', 'old answer'),
    });
    await page.getByText('old answer').waitFor();
    await send(page, 'Go');
    const turn = await turns.next();
    turn.say('x');
    await page.locator('.growing').waitFor();
    await page.evaluate(`{
      window.changes = { live: 0, history: 0, frames: 0 };
      const count = (name) => (records) => { window.changes[name] += records.length > 0 ? 1 : 0; };
      new MutationObserver(count('live')).observe(document.querySelector('.live'), { subtree: true, childList: true, characterData: true });
      for (const row of document.querySelectorAll('.row')) new MutationObserver(count('history')).observe(row, { subtree: true, childList: true, characterData: true, attributes: true });
      const tick = () => { window.changes.frames += 1; requestAnimationFrame(tick); };
      requestAnimationFrame(tick);
    }`);
    for (let index = 0; index < 500; index++) turn.say(` w${index}`);
    await page.locator('.growing', { hasText: 'w499' }).waitFor();
    const changes = (await page.evaluate('window.changes')) as { live: number; history: number; frames: number };
    expect(changes.history).toBe(0);
    expect(changes.live).toBeGreaterThan(0);
    expect(changes.live).toBeLessThanOrEqual(changes.frames + 1);
    turn.finish();
  });

  test('the stop button ends the turn, and says so', async () => {
    const turns = new HeldTurns();
    const { page } = await bench.open(turns);
    await send(page, 'A long story');
    const turn = await turns.next();
    turn.say('Once upon a time');
    await page.locator('.column').getByText('Once upon a time').waitFor();
    await page.getByRole('button', { name: 'Stop the answer' }).click();
    await page.getByText('Stopped.').waitFor();
    expect(turn.signal.aborted).toBe(true);
    expect(await page.getByRole('button', { name: 'Stop the answer' }).count()).toBe(0);
    expect(await page.locator('.column').getByText('Once upon a time').count()).toBe(1);
  });

  test('a tool call shows its state, and unfolds to what went in and came out', async () => {
    const turns = new HeldTurns();
    const { page } = await bench.open(turns);
    await send(page, 'What is 17*23?');
    const turn = await turns.next();
    turn.think('I should calculate.');
    await page.getByText('Thinking…').waitFor();
    const finish = turn.callTool('calculator', { expression: '17*23' });
    const tool = page.locator('.tool');
    await tool.getByText('running').waitFor();
    finish('391');
    await tool.and(page.locator('.done')).waitFor();
    turn.say('It is 391.');
    turn.finish();
    await page.locator('.column').getByText('It is 391.').waitFor();
    await tool.locator('summary').click();
    expect(await tool.locator('pre').allInnerTexts()).toEqual(['{\n  "expression": "17*23"\n}', '391']);
    await page.getByText('Thoughts').click();
    await page.getByText('I should calculate.').waitFor();
    expect(await tool.count()).toBe(1);
  });

  test('a message sent while a turn runs waits in sight, and is answered next', async () => {
    const turns = new HeldTurns();
    const { page } = await bench.open(turns);
    await send(page, 'First');
    const first = await turns.next();
    await send(page, 'Second');
    await page.locator('.message.user', { hasText: 'Second' }).getByText('Waiting for its turn').waitFor();
    first.say('One.');
    first.finish();
    const second = await turns.next();
    expect(second.text).toBe('Second');
    second.say('Two.');
    second.finish();
    await page.locator('.column').getByText('Two.').waitFor();
    expect(await page.getByText('Waiting for its turn').count()).toBe(0);
    expect(await page.locator('.bubble').allInnerTexts()).toEqual(['First', 'Second']);
  });

  test('a waiting message that stop drops can be sent again', async () => {
    const turns = new HeldTurns();
    const { page } = await bench.open(turns);
    await send(page, 'First');
    await turns.next();
    await send(page, 'Second');
    await page.getByText('Waiting for its turn').waitFor();
    await page.getByRole('button', { name: 'Stop the answer' }).click();
    await page.getByText('Stopped before its turn').waitFor();
    await page.getByRole('button', { name: 'Send again' }).click();
    const turn = await turns.next();
    expect(turn.text).toBe('Second');
    turn.say('Here.');
    turn.finish();
    await page.locator('.column').getByText('Here.').waitFor();
    expect(await page.locator('.bubble').allInnerTexts()).toEqual(['First', 'Second']);
  });

  test('a connection lost in the middle of an answer comes back by itself, without holes and doubles', async () => {
    const turns = new HeldTurns();
    const { page, gateway } = await bench.open(turns);
    await send(page, 'Count');
    const turn = await turns.next();
    turn.say('one two ');
    await page.getByText('one two').waitFor();
    gateway.cut();
    await page.locator('.sidebar').getByText('No connection').waitFor();
    await page.getByText(/Next try in \d+ s/).waitFor();
    turn.say('three ');
    turn.callTool('calculator', { expression: '3+1' })('4');
    turn.say('four ');
    gateway.acceptAgain();
    await page.getByText('four').waitFor();
    await page.getByText('Connected').first().waitFor();
    turn.say('five');
    turn.finish();
    await page.getByRole('button', { name: 'Copy the answer' }).waitFor();
    expect(await page.locator('.markdown').allInnerTexts()).toEqual(['one two three', 'four five']);
    expect(await page.locator('.tool').count()).toBe(1);
    expect(await page.locator('.bubble').allInnerTexts()).toEqual(['Count']);
  });

  test('a message typed without a connection is sent once it is back, and once only', async () => {
    const turns = new HeldTurns();
    const { page, gateway } = await bench.open(turns);
    await page.locator('.sidebar').getByText('Connected').waitFor();
    gateway.cut();
    await page.locator('.sidebar').getByText('No connection').waitFor();
    await send(page, 'Are you there?');
    await page.getByText('Not sent yet').waitFor();
    gateway.acceptAgain();
    const turn = await turns.next();
    turn.say('Yes.');
    turn.finish();
    await page.locator('.column').getByText('Yes.').waitFor();
    expect(await page.locator('.bubble').allInnerTexts()).toEqual(['Are you there?']);
  });

  test('an error is shown once, with what to do, also after a reload', async () => {
    const turns = new HeldTurns();
    const { page } = await bench.open(turns);
    await send(page, 'Hello');
    const turn = await turns.next();
    turn.fail({ code: 'no_key', message: 'The platform refused the key. Check DEEPSEEK_API_KEY.' });
    turn.finish();
    await page.locator('.problem', { hasText: 'Check DEEPSEEK_API_KEY.' }).waitFor();
    expect(await page.locator('.problem').count()).toBe(1);
    await page.reload();
    await page.locator('.problem', { hasText: 'Check DEEPSEEK_API_KEY.' }).waitFor();
    expect(await page.getByRole('button', { name: 'Stop the answer' }).count()).toBe(0);
  });

  test('an error of the connection appears as a notice that can be dismissed', async () => {
    const { page, gateway } = await bench.open(new HeldTurns());
    await page.locator('.sidebar').getByText('Connected').waitFor();
    gateway.broadcast({ type: 'error', content: { code: 'queue_full', message: 'Too much is waiting.' } });
    await page.getByText('Too much is waiting.').waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByText('Too much is waiting.').waitFor({ state: 'detached' });
  });

  test('a page opened in the middle of a turn shows it, and can stop it', async () => {
    const turns = new HeldTurns();
    const { gateway, page, url } = await bench.open(turns);
    await send(page, 'Long');
    const turn = await turns.next();
    turn.say('So far. ');
    await page.getByText('So far.').waitFor();
    const second = await page.context().newPage();
    await second.goto(url);
    await second.getByText('So far.').waitFor();
    turn.say('And on.');
    await second.getByText('So far. And on.').waitFor();
    await second.getByRole('button', { name: 'Stop the answer' }).click();
    await page.getByText('Stopped.').waitFor();
    expect(gateway.dialog('default').messages).toHaveLength(2);
  });
});
