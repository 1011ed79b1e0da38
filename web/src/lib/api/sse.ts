// SPDX-License-Identifier: Apache-2.0 OR MIT

// Server-sent events over fetch, because an EventSource cannot send the page key.

/** One event of a stream. */
export interface StreamEvent {
  event: string;
  data: string;
  id?: string;
}

/** Splits a text stream into events. */
export class Parser {
  #rest = '';

  /** Adds the next piece and returns the events that are complete. */
  push(piece: string): StreamEvent[] {
    this.#rest += piece;
    const events: StreamEvent[] = [];
    for (;;) {
      const end = /\r?\n\r?\n/.exec(this.#rest);
      if (!end) return events;
      const event = parse(this.#rest.slice(0, end.index));
      this.#rest = this.#rest.slice(end.index + end[0].length);
      if (event) events.push(event);
    }
  }
}

function parse(block: string): StreamEvent | undefined {
  let event = 'message';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') event = value;
    else if (name === 'data') data.push(value);
    else if (name === 'id') id = value;
  }
  return data.length > 0 ? { event, data: data.join('\n'), id } : undefined;
}

/** Reads a stream to its end. */
export async function read(response: Response, tell: (events: StreamEvent[]) => void): Promise<void> {
  const reader = response.body?.getReader();
  if (!reader) return;
  const parser = new Parser();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = parser.push(decoder.decode(value, { stream: true }));
    if (events.length > 0) tell(events);
  }
}
