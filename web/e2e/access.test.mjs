// SPDX-License-Identifier: Apache-2.0 OR MIT

// Access control in a real browser: links, cookies, other origins.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { visit, world } from './lib/world.mjs';

const it = world();
const REFUSED = ['401', '403', 'Unauthorized', 'Forbidden'];

/** Another server on this machine, such as an agent's. */
async function neighbour(html) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.headers);
    response.setHeader('content-type', 'text/html');
    response.end(html);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { asked, url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

test('the link is removed from the URL once it is used, and works once', async () => {
  const link = it.daemon.link();
  const page = await it.open({ link });
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  assert.ok(!page.url().includes('link='), page.url());
  await page.goBack();
  assert.equal(page.url(), 'about:blank', 'no step leads back to it');
  const thief = await it.open({ link, expected: REFUSED });
  await thief.getByText('Not signed in').waitFor();
  await thief.getByText('this link was already used').waitFor();
  assert.deepEqual([...page.wrong, ...thief.wrong], []);
});

test('a browser without a session sees nothing', async () => {
  const page = await it.open({ link: `${it.daemon.origin}/`, expected: REFUSED });
  await page.getByText('Not signed in').waitFor();
  await page.getByText('tenterhook dashboard').waitFor();
  assert.deepEqual(page.wrong, []);
});

test('no script can read the cookie, and it goes to no other site', async () => {
  const page = await it.open();
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  assert.equal(await page.evaluate(() => document.cookie), '');
  const [cookie] = await page.context().cookies();
  assert.equal(cookie.httpOnly, true);
  assert.equal(cookie.sameSite, 'Strict');
  assert.ok(cookie.expires - Date.now() / 1000 <= 24 * 60 * 60 + 5);
});

test('the page stays open when it is loaded again, and in another tab', async () => {
  const page = await it.open();
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  const other = await page.context().newPage();
  await visit(other, it.daemon, 'decisions', 'Decisions');
  assert.deepEqual(page.wrong, []);
});

test('a session that ended closes every page of it', async () => {
  const page = await it.open({ expected: REFUSED });
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  await page.evaluate(() =>
    fetch('/v1/dashboard/leave', {
      method: 'POST',
      headers: { 'tenterhook-page': localStorage.getItem('tenterhook-page') },
    }),
  );
  await page.getByText('Not signed in').waitFor({ timeout: 10_000 });
});

test('pages of other origins cannot show ours in a frame', async () => {
  const page = await it.open({ expected: ['frame', 'X-Frame-Options', 'asked elsewhere', 'ERR_BLOCKED'] });
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  const other = await neighbour(`<iframe src="${it.daemon.origin}/"></iframe>`);
  await page.goto(other.url);
  await page.waitForTimeout(500);
  const frame = page.frames().find((one) => one !== page.mainFrame());
  const text = await frame?.evaluate(() => document.body?.innerText ?? '').catch(() => '');
  assert.ok(!/Tenterhook|Now|closed/.test(text ?? ''), text);
  other.close();
});

test('a server on another port gets the cookie, and it opens nothing there', async () => {
  const page = await it.open({
    expected: ['asked elsewhere', 'CORS', 'Failed to load', 'ERR_FAILED', '403', '401'],
  });
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  const other = await neighbour('<h1>other</h1>');
  await page.goto(other.url);
  const cookie = other.asked[0].cookie;
  assert.match(cookie, /tenterhook-\d+=/, 'cookies do not know ports');
  const without = { authorization: undefined, cookie };
  assert.equal((await it.daemon.ask('GET', '/v1/policy', { headers: without })).status, 401);
  // Its page can neither read nor change anything.
  const tries = await page.evaluate(async (origin) => {
    const attempt = async (path, init) => {
      try {
        const answer = await fetch(`${origin}${path}`, { credentials: 'include', ...init });
        return answer.type === 'opaque' ? 'opaque' : answer.status;
      } catch {
        return 'blocked';
      }
    };
    return [
      await attempt('/v1/policy'),
      await attempt('/v1/policy', { headers: { 'tenterhook-page': 'x' } }),
      await attempt('/v1/mode', { method: 'PUT', body: '{"mode":"monitor"}' }),
      await attempt('/v1/dashboard/leave', { method: 'POST', mode: 'no-cors' }),
    ];
  }, it.daemon.origin);
  assert.deepEqual(tries.slice(0, 3), ['blocked', 'blocked', 'blocked']);
  await page.goto(`${it.daemon.origin}/#/decisions`);
  await page.getByRole('heading', { level: 1, name: 'Decisions' }).waitFor();
  other.close();
});

test('the policy of the page lets no inline script run', async () => {
  const page = await it.open({ expected: ['Content Security Policy', 'content security policy'] });
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  const ran = await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.ran = true';
    document.body.append(script);
    const image = document.createElement('img');
    image.setAttribute('onerror', 'window.ran = true');
    image.src = 'data:image/png;base64,broken';
    document.body.append(image);
    return new Promise((done) => setTimeout(() => done(window.ran === true), 300));
  });
  assert.equal(ran, false);
});

test('the dashboard shows the command for a privileged action if no codes are set up', async () => {
  const page = await it.open();
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  const needs = await page.evaluate(async () => {
    const headers = { 'tenterhook-page': localStorage.getItem('tenterhook-page') };
    return (await fetch('/v1/authority?action=mode%20monitor', { headers })).json();
  });
  assert.equal(needs.needs, 'tty');
});
