// SPDX-License-Identifier: Apache-2.0 OR MIT

// Measures the dashboard: first load, a ledger of a million records, and 500 tool calls per second. Prints JSON and has no
// limits. TENTERHOOK_BIN and TENTERHOOK_BENCHES (the program of `benches`) should be release builds.

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { launch, open } from './lib/browser.mjs';
import { Daemon } from './lib/daemon.mjs';
import { shop, tool } from './lib/data.mjs';

const { TENTERHOOK_BENCHES } = process.env;
if (!TENTERHOOK_BENCHES) throw new Error('name the program of `benches` in TENTERHOOK_BENCHES');
const CALLS_PER_SECOND = 500;
const sorted = (list) => [...list].sort((a, b) => a - b);
const share = (list, part) =>
  Number((sorted(list)[Math.min(list.length - 1, Math.floor(list.length * part))] ?? 0).toFixed(2));
const summary = (list) => ({
  n: list.length,
  p50: share(list, 0.5),
  p95: share(list, 0.95),
  p99: share(list, 0.99),
  most: share(list, 1),
});

/** How long frames take while something happens: the time between them, and the work of scripts in each. */
const frames = (page, ms, turn) =>
  page.evaluate(
    ([ms, turn]) =>
      new Promise((done) => {
        const [gaps, work] = [[], []];
        const body = document.querySelector('[role=grid] .body');
        const began = performance.now();
        let last = began;
        let at = 0;
        const step = (now) => {
          gaps.push(now - last);
          last = now;
          if (turn && body) {
            const before = performance.now();
            at += turn;
            body.scrollTop = at % (body.scrollHeight - body.clientHeight);
            body.dispatchEvent(new Event('scroll'));
            // The page is changed in a task that the event queued; styles and layout are part of it.
            void Promise.resolve()
              .then(() => Promise.resolve())
              .then(() => {
                void body.offsetHeight;
                work.push(performance.now() - before);
              });
          }
          if (now - began < ms) requestAnimationFrame(step);
          else done({ gaps: gaps.slice(2), work });
        };
        requestAnimationFrame(step);
      }),
    [ms, turn],
  );

const daemon = await Daemon.start();
const large = await Daemon.start({
  prepare: (state) => {
    mkdirSync(state, { mode: 0o700 });
    execFileSync(TENTERHOOK_BENCHES, ['fill', join(state, 'ledger')]);
  },
});
const browser = await launch();
const result = {
  date: new Date().toISOString(),
  chromium: browser.version(),
  cores: cpus().length,
  load: loadavg()[0],
  build: process.env.TENTERHOOK_BIN?.includes('/release/') ? 'release' : 'debug',
};
try {
  const session = await shop(daemon);
  const loads = [];
  for (let round = 0; round < 7; round += 1) {
    const page = await open(browser, daemon, { link: '' });
    const link = daemon.link();
    const began = performance.now();
    await page.goto(link);
    await page.getByRole('grid', { name: 'Live calls' }).getByRole('row').nth(1).waitFor();
    loads.push(performance.now() - began);
    await page.context().close();
  }
  result.first_load_to_rows_ms = summary(loads);

  const page = await open(browser, large);
  await page.goto(`${large.origin}/#/decisions?show=records&since=all`);
  await page.getByText('1,000,0').first().waitFor();
  for (const [name, turn] of [
    ['slowly', 7],
    ['fast', 400],
    ['flying', 40_000],
  ]) {
    const { gaps, work } = await frames(page, 3000, turn);
    result[`million_rows_${name}`] = { work_ms: summary(work), frame_ms: summary(gaps) };
  }
  await page.context().close();

  const watched = await open(browser, daemon);
  await watched.getByRole('button', { name: 'All calls' }).click();
  await watched.getByRole('grid', { name: 'Live calls' }).getByRole('row').nth(1).waitFor();
  const measured = frames(watched, 8000, 0);
  const began = performance.now();
  let sent = 0;
  const sender = async () => {
    while (performance.now() - began < 7000) {
      const due = ((performance.now() - began) / 1000) * CALLS_PER_SECOND;
      if (sent >= due) await new Promise((done) => setTimeout(done, 2));
      else {
        sent += 1;
        await tool(daemon, session, 'Bash', { command: `make target-${sent}` });
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, sender));
  const seconds = (performance.now() - began) / 1000;
  const { gaps } = await measured;
  result.flood = { tool_calls_per_s: Math.round(sent / seconds), frame_ms: summary(gaps) };
  const click = performance.now();
  await watched.getByRole('link', { name: 'Sessions' }).first().click();
  await watched.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
  result.flood.click_after_ms = Math.round(performance.now() - click);
  console.log(JSON.stringify(result, null, 2));
} finally {
  await browser.close();
  await daemon.stop();
  await large.stop();
}
