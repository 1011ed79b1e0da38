// SPDX-License-Identifier: Apache-2.0 OR MIT

// A fleet server with its engines, a machine that joined it, and the reverse proxy that signs users in and serves the
// pages.

import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Daemon } from './daemon.mjs';

const { TENTERHOOK_FLEET_BIN: PROGRAM, TENTERHOOK_NATS_SERVER: NATS } = process.env;
const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));
const USER_HEADER = 'x-verified-user';
const TYPES = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

/** Why the tests cannot run; undefined if they can. */
export const missing = PROGRAM && NATS ? undefined : 'needs TENTERHOOK_FLEET_BIN and TENTERHOOK_NATS_SERVER';

function ended(child) {
  return new Promise((done) => child.once('exit', done));
}

/** Runs a program to its end and returns its output. */
async function run(program, args, { env, input } = {}) {
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece) => {
      text += piece;
    });
  // A confirmation is read from the terminal once it is asked for.
  const typing = input ? setTimeout(() => child.stdin.write(input), 2000) : undefined;
  const code = await ended(child);
  clearTimeout(typing);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${code}: ${text}`);
  return text;
}

export class Fleet {
  #children = [];
  #proxy;

  static async start() {
    const fleet = new Fleet();
    fleet.dir = mkdtempSync(join(tmpdir(), 'tenterhook-fleet-'));
    // PostgreSQL runs as another user if the test runs as root.
    chmodSync(fleet.dir, 0o755);
    fleet.env = {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: fleet.dir,
      XDG_STATE_HOME: join(fleet.dir, 'state'),
      TENTERHOOK_NATS_SERVER: NATS,
    };
    const users = join(fleet.dir, 'users.json');
    writeFileSync(users, JSON.stringify({ tenant: 'default', roles: { alice: 'author' } }));
    const options = [
      '--trusted-proxy-header',
      USER_HEADER,
      '--trusted-proxy',
      '127.0.0.1',
      '--proxy-users',
      users,
    ];
    const server = fleet.#spawn([
      'serve',
      '--state',
      join(fleet.dir, 'server'),
      '--listen',
      '127.0.0.1:0',
      ...options,
    ]);
    fleet.address = await new Promise((done, failed) => {
      let text = '';
      server.stdout.on('data', (piece) => {
        text += piece;
        const found = /^fleet server: http:\/\/(\S+)/m.exec(text);
        if (found) done(found[1]);
      });
      server.once('exit', (code) => failed(new Error(`the fleet server ended: ${code} ${server.said}`)));
    });
    await fleet.#serve();
    return fleet;
  }

  #spawn(args, env = this.env) {
    const child = spawn(PROGRAM, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.said = '';
    child.stderr.on('data', (piece) => {
      child.said += piece;
    });
    this.#children.push(child);
    return child;
  }

  /** Starts the proxy, which serves the pages and passes other requests on as `this.user`. */
  async #serve() {
    const [host, port] = this.address.split(':');
    this.user = 'alice';
    this.#proxy = createServer((asked, answer) => {
      const path = asked.url.split('?')[0];
      if (!path.startsWith('/v1/')) {
        const name = path === '/' ? 'fleet.html' : path.slice(1);
        try {
          const bytes = readFileSync(join(DIST, name));
          answer.writeHead(200, {
            'content-type': TYPES[name.split('.').at(-1)] ?? 'application/octet-stream',
          });
          answer.end(bytes);
        } catch {
          answer.writeHead(404).end();
        }
        return;
      }
      const headers = { ...asked.headers, host: this.address };
      delete headers[USER_HEADER];
      if (this.user) headers[USER_HEADER] = this.user;
      const sent = request({ host, port, method: asked.method, path: asked.url, headers }, (got) => {
        answer.writeHead(got.statusCode, got.headers);
        got.pipe(answer);
      });
      sent.on('error', () => answer.writeHead(502).end());
      asked.pipe(sent);
    });
    await new Promise((done) => this.#proxy.listen(0, '127.0.0.1', done));
    this.origin = `http://127.0.0.1:${this.#proxy.address().port}`;
  }

  /** Enrols a new machine and starts its daemon. */
  async join() {
    const key = join(this.dir, 'server/admin-default.json');
    const made = await run(PROGRAM, ['token', 'create', '--json', '--key', key, '--label', 'team=shop'], {
      env: this.env,
    });
    const state = join(mkdtempSync(join(this.dir, 'machine-')), 'th');
    const token = join(state, '../token');
    writeFileSync(token, JSON.parse(made).token, { mode: 0o600 });
    const env = { ...this.env, HOME: join(state, '..'), TENTERHOOK_HOME: state };
    const command = `${PROGRAM} join http://${this.address} --token-file ${token} --home ${state}`;
    await run('setsid', ['--wait', 'script', '-qec', command, '/dev/null'], { env, input: 'fleet join\n' });
    const machine = { joinedState: state, env };
    machine.daemon = await Daemon.start({
      prepare: (target) => cpSync(state, target, { recursive: true }),
    });
    return machine;
  }

  /** Starts the connector of a machine, which uploads its records and its status. */
  connect(machine) {
    this.#spawn(
      ['connect', '--state', join(machine.daemon.home, 'th'), '--batch-age-ms', '200'],
      machine.env,
    );
  }

  /** Uploads another continuation of the ledger that the machine had when it joined. */
  fork(machine) {
    const payload = {
      hook_event_name: 'PreToolUse',
      session_id: 'fork',
      cwd: '/home/dev',
      tool_name: 'Bash',
    };
    for (const command of ['true', 'pwd', 'date']) {
      const input = JSON.stringify({ ...payload, tool_input: { command }, tool_use_id: command });
      execFileSync(process.env.TENTERHOOK_BIN, ['hook', 'claude-code', 'pre-tool-use'], {
        env: machine.env,
        input,
      });
    }
    // Reading the ledger imports what the hooks recorded without a daemon.
    execFileSync(process.env.TENTERHOOK_BIN, ['ledger', 'stats'], { env: machine.env });
    this.#spawn(['connect', '--state', machine.joinedState, '--batch-age-ms', '200'], machine.env);
  }

  async stop() {
    this.#proxy?.close();
    for (const child of this.#children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const over = ended(child);
      child.kill('SIGTERM');
      await over;
    }
    rmSync(this.dir, { recursive: true, force: true });
  }
}
