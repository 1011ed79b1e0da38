// SPDX-License-Identifier: Apache-2.0 OR MIT

// The ledger in the browser: search, details, and verification of valid and forged records.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lived, tool } from './lib/data.mjs';
import { at, visit, world } from './lib/world.mjs';

const it = world(lived);

const rows = (page) => page.getByRole('grid', { name: 'Decisions' }).getByRole('row');

async function denied(page) {
  await visit(page, it.daemon, 'decisions?verdict=deny&harness=claude-code', 'Decisions');
  await rows(page).nth(1).waitFor();
}

test('filters narrow the list and are stored in the URL', async () => {
  const page = await it.open();
  await visit(page, it.daemon, 'decisions?show=records&since=all', 'Decisions');
  await rows(page).nth(5).waitFor();
  const field = page.getByRole('combobox', { name: 'Search decisions' });
  await field.pressSequentially('verdict:deny ');
  await page.getByRole('button', { name: 'Remove verdict: denied' }).waitFor();
  await page.getByText(/\b\d+\s+of\s+\d+/).waitFor();
  assert.match(page.url(), /verdict=deny/);
  await field.fill('get.example.com');
  await page.getByText(/\b1\s+of\s+\d+/).waitFor();
  assert.match(await rows(page).nth(1).innerText(), /curl -fsSL/);
  await page.reload();
  await page.getByText(/\b1\s+of\s+\d+/).waitFor();
  await field.fill('no such thing anywhere');
  await page.getByText('No matching records').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByText(/\b\d+\s+records/).waitFor();
  assert.deepEqual(page.wrong, []);
});

test('it can be used with the keyboard alone', async () => {
  const page = await it.open();
  await visit(page, it.daemon, 'decisions?show=records&since=all', 'Decisions');
  await rows(page).nth(5).waitFor();
  await page.getByRole('grid', { name: 'Decisions' }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('complementary').waitFor();
  const first = new URL(page.url()).hash;
  await page.keyboard.press('ArrowDown');
  await page.waitForFunction((hash) => location.hash !== hash, first);
  await page.keyboard.press('Escape');
  await page.getByRole('complementary').waitFor({ state: 'detached' });
  await page.keyboard.press('End');
  await rows(page).last().getByText('start', { exact: true }).waitFor();
  await page.locator('body').click({ position: { x: 5, y: 400 } });
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
  assert.deepEqual(page.wrong, []);
});

test('the details show rules, reasons and the reply to the harness', async () => {
  const page = await it.open();
  await denied(page);
  await page.getByText('curl -fsSL').first().click();
  const drawer = page.getByRole('complementary');
  await drawer.getByRole('cell', { name: /^rule:remote-code/ }).waitFor();
  await drawer.getByText('This runs code directly from the network').first().waitFor();
  await drawer.getByText('Reply to the harness').click();
  await drawer.getByText('permissionDecisionReason').waitFor();
  await drawer.getByText('Merkle path, verified in this browser').click();
  await drawer.getByText('signed root').waitFor();
  assert.deepEqual(page.wrong, []);
});

/** API responses that are changed in transit. */
async function tampered(page, pattern, change) {
  await page.route(pattern, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: change(await answer.text()) });
  });
}

const LIES = {
  'another verdict in the leaf': [
    /\/v1\/ledger\/\d+$/,
    (text) => text.replaceAll('\\"verdict\\":\\"deny\\"', '\\"verdict\\":\\"allow\\"'),
  ],
  'another command in the payload': [
    /\/v1\/ledger\/\d+$/,
    (text) => text.replaceAll('curl -fsSL', 'curl -fsSl'),
  ],
  'another leaf in the proof': [
    /\/proof$/,
    (text) =>
      text.replace(
        /^extra (.*)$/m,
        (_, leaf) =>
          `extra ${Buffer.from(Buffer.from(leaf, 'base64').toString().replace('"deny"', '"none"')).toString('base64')}`,
      ),
  ],
  'another root in the checkpoint': [
    /\/proof$/,
    (text) => text.replace(/^([\w+/]{42})(.)=$/gm, (_, hash) => `${hash}A=`),
  ],
  'another signature': [
    /\/proof$/,
    (text) => text.replace(/(— \S+ \S{20})(.)/, (_, head, one) => head + (one === 'A' ? 'B' : 'A')),
  ],
};

for (const [what, [pattern, change]] of Object.entries(LIES)) {
  test(`refused: ${what}`, async () => {
    const page = await it.open();
    await tampered(page, pattern, change);
    await denied(page);
    await page.getByText('curl -fsSL').first().click();
    await page.getByText('Not verified: this record does not match').waitFor();
    assert.equal(await page.getByText(/^Verified:/).count(), 0);
    assert.deepEqual(page.wrong, []);
  });
}

test('a changed signing key is reported', async () => {
  const page = await it.open();
  await denied(page);
  await page.evaluate(() =>
    localStorage.setItem(
      'tenterhook-ledger-key',
      JSON.stringify({ key: 'another', since: '2026-01-01T00:00:00Z' }),
    ),
  );
  await rows(page).nth(1).click();
  await page.getByText('signed by a different key').waitFor();
  await page.getByRole('button', { name: 'Trust the new key' }).click();
  await page.getByText('This browser has known this key since').waitFor();
});

test('new decisions appear at the top, and visible rows stay in place', async () => {
  const page = await it.open();
  await page.goto(at(it.daemon, 'decisions?show=all'));
  await rows(page).nth(5).waitFor();
  const body = page.getByRole('grid', { name: 'Decisions' }).locator('.body');
  await body.evaluate((node) => (node.scrollTop = 600));
  await page.waitForTimeout(300);
  const looked = () =>
    body.evaluate((node) => {
      const box = node.getBoundingClientRect();
      return document
        .elementFromPoint(box.left + 40, box.top + 15)
        ?.closest('.line')
        ?.innerText.split('\n')[0];
    });
  const before = await looked();
  await tool(it.daemon, it.made, 'Bash', { command: 'echo more' });
  await page.waitForTimeout(700);
  assert.equal(await looked(), before);
  await body.evaluate((node) => (node.scrollTop = 0));
  await page.getByText('echo more').first().waitFor();
});
