// SPDX-License-Identifier: Apache-2.0 OR MIT

// An authenticator app. A code can be used once, and the code of the next step is already valid.

import { createHmac } from 'node:crypto';

const STEP = 30;

function fromBase32(text) {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...text.replaceAll('=', '')].map((letter) =>
    letters.indexOf(letter).toString(2).padStart(5, '0'),
  );
  return Buffer.from(
    bits
      .join('')
      .match(/.{8}/g)
      .map((byte) => Number.parseInt(byte, 2)),
  );
}

function code(secret, step) {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const number = mac.readUInt32BE(mac[19] & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

const now = () => Math.floor(Date.now() / 1000 / STEP);
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

export class Codes {
  #secret;
  #next = 0;

  /** Sets up codes in the state directory of a daemon. */
  static async enroll(daemon) {
    const codes = new Codes();
    codes.#secret = fromBase32(JSON.parse(daemon.run('totp', 'enroll', '--json')).secret);
    // Leave enough time to use the code before its step ends.
    while ((Date.now() / 1000) % STEP > 20) await wait(500);
    codes.#next = now() - 1;
    daemon.run('totp', 'verify', await codes.next());
    return codes;
  }

  /** The codes of a secret in base32. */
  static of(secret) {
    const codes = new Codes();
    codes.#secret = fromBase32(secret);
    return codes;
  }

  /** The next unused code. */
  async next() {
    this.#next = Math.max(this.#next, now() - 1);
    while (this.#next > now() + 1) await wait(500);
    const step = this.#next;
    this.#next += 1;
    return code(this.#secret, step);
  }
}
