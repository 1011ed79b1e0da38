// SPDX-License-Identifier: Apache-2.0 OR MIT

// A real daemon with a temporary state directory, and the hook calls of agents.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The program under test. */
const PROGRAM = process.env.TENTERHOOK_BIN;

export class Daemon {
  #process;

  /** Starts a daemon and waits until it responds. `prepare` is called before, with its state directory and its home. */
  static async start({ prepare } = {}) {
    if (!PROGRAM) throw new Error('say in TENTERHOOK_BIN which program is tested');
    const daemon = new Daemon();
    daemon.home = mkdtempSync(join(tmpdir(), 'tenterhook-web-'));
    daemon.env = { PATH: process.env.PATH, HOME: daemon.home, TENTERHOOK_HOME: join(daemon.home, 'th') };
    prepare?.(daemon.env.TENTERHOOK_HOME, daemon.home);
    daemon.#process = spawn(PROGRAM, ['serve', '--listen', '127.0.0.1:0'], {
      env: daemon.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    daemon.said = '';
    daemon.#process.stderr.on('data', (piece) => {
      daemon.said += piece;
    });
    for (let tries = 0; ; tries += 1) {
      try {
        const card = JSON.parse(readFileSync(join(daemon.home, 'th/run/daemon.json'), 'utf8'));
        daemon.address = card.listen;
        daemon.token = readFileSync(join(daemon.home, 'th/run/token'), 'utf8').trim();
        return daemon;
      } catch (error) {
        if (tries > 200) throw new Error(`the daemon did not start: ${daemon.said}`, { cause: error });
        await new Promise((done) => setTimeout(done, 50));
      }
    }
  }

  get origin() {
    return `http://${this.address}`;
  }

  /** Runs a command of the program. */
  run(...words) {
    return execFileSync(PROGRAM, words, { env: this.env, encoding: 'utf8' });
  }

  /** Creates a one-time link with the command. */
  link() {
    return JSON.parse(this.run('dashboard', '--json')).url;
  }

  /** Calls the API with the token, or with other headers instead. */
  ask(method, path, { body, headers } = {}) {
    const [host, port] = [this.address.split(':')[0], Number(this.address.split(':').at(-1))];
    const all = { authorization: `Bearer ${this.token}`, 'content-type': 'application/json', ...headers };
    for (const name of Object.keys(all)) if (all[name] === undefined) delete all[name];
    return new Promise((done, failed) => {
      const sent = request({ host, port, method, path, headers: all }, (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (piece) => {
          text += piece;
        });
        answer.on('end', () => {
          let json;
          try {
            json = JSON.parse(text);
          } catch {
            // Some responses are not JSON.
          }
          done({ status: answer.statusCode, headers: answer.headers, text, json });
        });
      });
      sent.on('error', failed);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** One call of a harness's hook. */
  async hook(harness, event, payload) {
    const answer = await this.ask('POST', `/v1/hooks/${harness}/${event}`, { body: payload });
    if (answer.status !== 200) throw new Error(`${harness} ${event}: ${answer.status} ${answer.text}`);
    return answer.json;
  }

  async stop() {
    const ended = new Promise((done) => this.#process.once('exit', done));
    this.#process.kill('SIGTERM');
    await ended;
    rmSync(this.home, { recursive: true, force: true });
  }
}
