// SPDX-License-Identifier: Apache-2.0 OR MIT

/** The dark modules of a QR code as an SVG path. Each row is a string of `1` (dark) and `0`. */
export function qrPath(rows: string[], margin: number): string {
  let path = '';
  rows.forEach((row, y) => {
    for (const run of row.matchAll(/1+/g))
      path += `M${run.index + margin} ${y + margin}h${run[0].length}v1h-${run[0].length}z`;
  });
  return path;
}
