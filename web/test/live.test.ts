// SPDX-License-Identifier: Apache-2.0 OR MIT

import { expect, test, vi } from 'vitest';

const PATIENCE = { timeout: 20_000 };

test('the greeting of a stream reaches only listeners that were registered before it', {
  timeout: 60_000,
}, async () => {
  let send: (text: string) => void = () => {};
  const body = new ReadableStream({
    start(controller) {
      send = (text) => controller.enqueue(new TextEncoder().encode(text));
    },
  });
  vi.stubGlobal('document', { hidden: false, addEventListener() {}, removeEventListener() {} });
  vi.stubGlobal('localStorage', { getItem: () => null });
  // A page that is busy has no frame yet.
  const frames: (() => void)[] = [];
  vi.stubGlobal('requestAnimationFrame', (then: () => void) => frames.push(then));
  const draw = () => {
    for (const frame of frames.splice(0)) frame();
  };
  vi.stubGlobal('fetch', async () => new Response(body));
  const { live } = await import('../src/lib/live.svelte');
  const heard: string[] = [];
  live.on('hello', () => heard.push('early hello'));
  live.start();
  send('event: hello\ndata: {"version":"1","generation":"a"}\n\n');
  await vi.waitFor(() => expect(heard).toEqual(['early hello']), PATIENCE);
  // It loads its data now, so it has missed nothing.
  live.on('hello', () => heard.push('late hello'));
  live.on('warning', ([news]) => heard.push(news?.what ?? ''));
  send('event: warning\ndata: {"what":"disk"}\n\n');
  await vi.waitFor(() => expect(frames.length).toBe(1), PATIENCE);
  draw();
  expect(heard).toEqual(['early hello', 'disk']);
  // After a lost connection, all listeners load their data again.
  send('event: hello\ndata: {"version":"1","generation":"b"}\n\n');
  await vi.waitFor(() => expect(heard.slice(2)).toEqual(['early hello', 'late hello']), PATIENCE);
  live.stop();
  vi.unstubAllGlobals();
});
