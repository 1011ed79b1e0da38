// SPDX-License-Identifier: Apache-2.0 OR MIT

// Line diffs between two texts.

export interface Line {
  kind: 'same' | 'old' | 'new' | 'gap';
  text: string;
  /** Line number before and after, from 1. */
  before?: number;
  after?: number;
}

/** Maximum number of edits for which the shortest diff is computed. */
const MAX_EDITS = 500;

/** Lines of both texts in order. Long unchanged parts become gaps. */
export function diff(before: string, after: string, context = 3): Line[] {
  return folded(lines(cut(before), cut(after)), context);
}

/** Parses a unified diff. */
export function patch(text: string): Line[] {
  let [before, after] = [1, 1];
  const kinds: { [sign: string]: 'old' | 'new' } = { '-': 'old', '+': 'new' };
  return cut(text).map((line) => {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line);
    if (hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
      return { kind: 'gap', text: hunk[3]?.trim() || `from line ${after}` };
    }
    if (line.startsWith('\\')) return { kind: 'gap', text: line.slice(1).trim() };
    const kind = kinds[line[0] ?? ''] ?? 'same';
    return {
      kind,
      text: line.slice(1),
      before: kind === 'new' ? undefined : before++,
      after: kind === 'old' ? undefined : after++,
    };
  });
}

/** Number of added and removed lines. */
export function changes(list: Line[]): { added: number; removed: number } {
  const of = (kind: Line['kind']) => list.filter((line) => line.kind === kind).length;
  return { added: of('new'), removed: of('old') };
}

/** Splits a text into lines. A final newline does not start another line. */
function cut(text: string): string[] {
  if (text === '') return [];
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

function lines(before: string[], after: string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end += 1;
  }
  const middle = edits(before.slice(start, before.length - end), after.slice(start, after.length - end));
  const kinds = [...Array<'same'>(start).fill('same'), ...middle, ...Array<'same'>(end).fill('same')];
  let [i, j] = [0, 0];
  return kinds.map((kind) => {
    if (kind === 'old') return { kind, text: before[i] ?? '', before: ++i };
    if (kind === 'new') return { kind, text: after[j] ?? '', after: ++j };
    return { kind, text: before[i] ?? '', before: ++i, after: ++j };
  });
}

/** Myers' algorithm: the furthest point per diagonal and number of edits, then the path back. */
function edits(before: string[], after: string[]): ('same' | 'old' | 'new')[] {
  const [n, m] = [before.length, after.length];
  const all = [...Array<'old'>(n).fill('old'), ...Array<'new'>(m).fill('new')];
  if (n === 0 || m === 0) return all;
  const trace: Map<number, number>[] = [];
  let furthest = new Map<number, number>([[1, 0]]);
  for (let d = 0; d <= Math.min(n + m, MAX_EDITS); d += 1) {
    trace.push(new Map(furthest));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
      let x = down ? (furthest.get(k + 1) ?? 0) : (furthest.get(k - 1) ?? 0) + 1;
      let y = x - k;
      while (x < n && y < m && before[x] === after[y]) [x, y] = [x + 1, y + 1];
      furthest.set(k, x);
      if (x >= n && y >= m) return back(trace, n, m);
    }
    furthest = new Map(furthest);
  }
  return all;
}

function back(trace: Map<number, number>[], n: number, m: number): ('same' | 'old' | 'new')[] {
  const way: ('same' | 'old' | 'new')[] = [];
  let [x, y] = [n, m];
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const furthest = trace[d] ?? new Map<number, number>();
    const k = x - y;
    const down = k === -d || (k !== d && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
    const from = down ? k + 1 : k - 1;
    const [px, py] = [furthest.get(from) ?? 0, (furthest.get(from) ?? 0) - from];
    while (x > px && y > py) {
      way.push('same');
      [x, y] = [x - 1, y - 1];
    }
    if (d > 0) way.push(down ? 'new' : 'old');
    [x, y] = [px, py];
  }
  return way.reverse();
}

function folded(list: Line[], context: number): Line[] {
  const near = new Uint8Array(list.length);
  list.forEach((line, at) => {
    if (line.kind !== 'same') near.fill(1, Math.max(0, at - context), at + context + 1);
  });
  const shown: Line[] = [];
  let hidden = 0;
  list.forEach((line, at) => {
    if (near[at]) {
      if (hidden > 0) shown.push({ kind: 'gap', text: `${hidden} unchanged lines` });
      hidden = 0;
      shown.push(line);
    } else {
      hidden += 1;
    }
  });
  if (hidden > 0) shown.push({ kind: 'gap', text: `${hidden} unchanged lines` });
  return shown;
}
