// SPDX-License-Identifier: Apache-2.0 OR MIT

// Splits messages into text and code in backticks, such as `tenterhook install`.

export interface Piece {
  text: string;
  code: boolean;
}

/** The pieces of a message. A backtick without a partner stays as it is. */
export function pieces(message: string): Piece[] {
  const parts = message.split('`');
  if (parts.length % 2 === 0) {
    const rest = parts.pop() ?? '';
    parts.push(`${parts.pop() ?? ''}\`${rest}`);
  }
  return parts.map((text, at) => ({ text, code: at % 2 === 1 })).filter((piece) => piece.text !== '');
}
