// SPDX-License-Identifier: Apache-2.0 OR MIT

// The README's pictures in a browser, light and dark: readable, nothing cut off, words apart.

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { launch } from './lib/browser.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAX_BYTES = 25_000;
/** WCAG 2 AA for text of normal size. */
const MIN_CONTRAST = 4.5;
const THEMES = ['light', 'dark'];

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** Geometry and colours of each line, as the browser draws them. */
function measure() {
  const svg = document.documentElement;
  const box = svg.viewBox.baseVal;
  const lines = [...svg.querySelectorAll('text')].map((line) => {
    const { x, y, width, height } = line.getBBox();
    const text = line.textContent;
    const widths = [...text].map((_, at) => line.getSubStringLength(at, 1));
    const starts = [...text].map((_, at) => line.getStartPositionOfChar(at).x);
    const parts = [line, ...line.querySelectorAll('tspan')];
    const colors = parts.map((part) => getComputedStyle(part).fill);
    const opacities = parts.map((part) => getComputedStyle(part).opacity);
    return { text, drawn: line.getNumberOfChars(), x, y, width, height, widths, starts, colors, opacities };
  });
  const background = getComputedStyle(svg.querySelector('rect')).fill;
  const stretched = svg.querySelectorAll('[textLength], [lengthAdjust]').length;
  return { width: box.width, height: box.height, lines, background, stretched };
}

function luminance(color) {
  const channels = color.match(/\d+(\.\d+)?/g).slice(0, 3);
  const [red, green, blue] = channels.map((channel) => {
    const value = Number(channel) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

for (const theme of THEMES) {
  test(`the ${theme} picture is readable and nothing of it is cut off`, async () => {
    const file = `${ROOT}docs/assets/demo-${theme}.svg`;
    assert.ok(statSync(file).size <= MAX_BYTES, `${file} is larger than ${MAX_BYTES} bytes`);
    const page = await browser.newPage({ colorScheme: theme });
    await page.goto(pathToFileURL(file).href);
    const { width, height, lines, background, stretched } = await page.evaluate(measure);
    assert.equal(stretched, 0, 'no text is stretched');
    const texts = lines.map((line) => line.text.trim());
    assert.ok(texts.length >= 8 && texts.length <= 14, `about ten lines: ${JSON.stringify(texts)}`);
    for (const start of [
      '● Now I clean up.',
      'Bash rm -rf ~/',
      '✗ denied [recursive-delete]',
      '→ delete only the paths',
    ])
      assert.ok(
        texts.some((text) => text.startsWith(start)),
        `\`${start}\` is not in ${JSON.stringify(texts)}`,
      );
    let bottom = 0;
    for (const line of lines) {
      assert.equal(line.drawn, line.text.length, `blanks are collapsed in \`${line.text}\``);
      for (const [at, drawn] of line.widths.entries()) {
        assert.ok(drawn > 2, `character ${at} of \`${line.text}\` takes no room`);
        const next = line.starts[at + 1] ?? line.starts[at] + drawn;
        const gap = next - line.starts[at] - drawn;
        assert.ok(Math.abs(gap) < 0.5, `characters ${at} and ${at + 1} of \`${line.text}\`: ${gap} px apart`);
      }
      assert.ok(line.x >= 0 && line.x + line.width <= width, `\`${line.text}\` is cut off`);
      assert.ok(line.y >= bottom - 1 && line.y + line.height <= height, `\`${line.text}\` overlaps`);
      bottom = line.y + line.height;
      for (const opacity of line.opacities) assert.equal(opacity, '1', 'colours are not mixed');
      for (const color of line.colors) {
        const ratio = contrast(color, background);
        assert.ok(ratio >= MIN_CONTRAST, `${color} on ${background} has a contrast of ${ratio.toFixed(2)}`);
      }
    }
    await page.close();
  });
}

test('the README shows the picture of the theme, with an alternative text', async () => {
  const picture = readFileSync(`${ROOT}README.md`, 'utf8').match(/<picture>[\s\S]*?<\/picture>/)?.[0];
  assert.ok(picture, 'README.md has a <picture>');
  for (const colorScheme of THEMES) {
    const page = await browser.newPage({ colorScheme });
    await page.goto(pathToFileURL(`${ROOT}LICENSE-MIT`).href);
    // Pages without a script or style of their own, as on GitHub.
    await page.evaluate((html) => {
      document.body.innerHTML = html;
    }, picture);
    const image = page.locator('picture img');
    await image.evaluate((element) => element.decode());
    const shown = await image.evaluate((element) => ({
      source: element.currentSrc,
      width: element.naturalWidth,
      alt: element.alt,
    }));
    assert.ok(shown.source.endsWith(`/docs/assets/demo-${colorScheme}.svg`), shown.source);
    assert.ok(shown.width > 300 && shown.alt.length > 40, JSON.stringify(shown));
    await page.close();
  }
});
