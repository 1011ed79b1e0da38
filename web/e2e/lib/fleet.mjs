// SPDX-License-Identifier: Apache-2.0 OR MIT

// A trial of a fleet server with its engines, machines that joined it, its policy, and a reverse proxy that signs users
// in.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Daemon } from './daemon.mjs';

const { TENTERHOOK_FLEET_BIN: PROGRAM, TENTERHOOK_NATS_SERVER: NATS } = process.env;
const USER_HEADER = 'x-verified-user';

/** Why the tests cannot run; undefined if they can. */
export const missing = PROGRAM && NATS ? undefined : 'needs TENTERHOOK_FLEET_BIN and TENTERHOOK_NATS_SERVER';

// With a namespace for its name, each machine has a host of its own.
const hasHosts = spawnSync('unshare', ['--uts', 'hostname', 'probe']).status === 0;
const onHost = (host, command) =>
  hasHosts ? ['unshare', '--uts', 'sh', '-c', 'hostname "$0" && exec "$@"', host, ...command] : command;

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
  #proxies = [];

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
    // A reverse proxy is trusted too: a browser has another address.
    const users = join(fleet.dir, 'users.json');
    writeFileSync(users, JSON.stringify({ tenant: 'default', roles: { alice: 'author' } }));
    const options = [
      '--trusted-proxy-header',
      USER_HEADER,
      '--trusted-proxy',
      '127.0.0.2',
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
        const link = /^dashboard: (\S+)/m.exec(text);
        if (!found || !link) return;
        fleet.printedLink = link[1];
        done(found[1]);
      });
      server.once('exit', (code) => failed(new Error(`the fleet server ended: ${code} ${server.said}`)));
    });
    fleet.origin = `http://${fleet.address}`;
    fleet.adminKey = join(fleet.dir, 'server/admin-default.json');
    return fleet;
  }

  /** Runs a command of an operator and returns its JSON. */
  json(...args) {
    return JSON.parse(this.run(...args, '--json', '--key', this.adminKey));
  }

  /** Runs a command. */
  run(...args) {
    return execFileSync(PROGRAM, args, { env: this.env, encoding: 'utf8' });
  }

  /** Creates a one-time link for the owner of a key. */
  link(key = this.adminKey) {
    return JSON.parse(this.run('open', '--json', '--key', key)).url;
  }

  /** Creates the key of an operator. Returns its file. */
  operator(role) {
    const file = join(this.dir, `${role}.json`);
    this.json('key', 'new', role, '--role', role, '--out', file);
    return file;
  }

  /** Creates the key of a signer or an approver. Returns its file and its public key. */
  signer(name) {
    const file = join(this.dir, `${name}.key`);
    const made = JSON.parse(this.run('key', 'sign', name, '--out', file, '--json'));
    return { file, key: made.public_key };
  }

  /** Signs rules as the next version of the policy. Returns the version. */
  push(rules, settings, ...signers) {
    const dir = join(this.dir, 'policy');
    mkdirSync(join(dir, 'rules'), { recursive: true });
    writeFileSync(join(dir, 'rules/base.yaml'), rules);
    writeFileSync(join(dir, 'fleet.yaml'), settings);
    const keys = signers.flatMap(({ file }) => ['--sign', file]);
    return this.json('policy', 'push', dir, ...keys).bundle.version;
  }

  #spawn(args, env = this.env, host = undefined) {
    const command = host ? onHost(host, [PROGRAM, ...args]) : [PROGRAM, ...args];
    const child = spawn(command[0], command.slice(1), { env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.said = '';
    child.stderr.on('data', (piece) => {
      child.said += piece;
    });
    this.#children.push(child);
    return child;
  }

  /** Starts a reverse proxy that names a user. Returns its address. */
  async proxy(user) {
    const [host, port] = this.address.split(':');
    const proxy = createServer((asked, answer) => {
      const headers = { ...asked.headers, host: this.address };
      delete headers[USER_HEADER];
      if (user) headers[USER_HEADER] = user;
      const options = {
        host,
        port,
        localAddress: '127.0.0.2',
        method: asked.method,
        path: asked.url,
        headers,
      };
      const sent = request(options, (got) => {
        answer.writeHead(got.statusCode, got.headers);
        got.pipe(answer);
      });
      sent.on('error', () => answer.writeHead(502).end());
      asked.pipe(sent);
    });
    await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
    this.#proxies.push(proxy);
    return `http://127.0.0.1:${proxy.address().port}`;
  }

  /** Enrols a new machine and starts its daemon. */
  async join(host, ring = 'default') {
    const labels = ['--label', 'team=shop', '--ring', ring];
    const made = this.json('token', 'create', ...labels);
    const state = join(mkdtempSync(join(this.dir, 'machine-')), 'th');
    const token = join(state, '../token');
    writeFileSync(token, made.token, { mode: 0o600 });
    const env = { ...this.env, HOME: join(state, '..'), TENTERHOOK_HOME: state };
    const command = `${PROGRAM} join ${this.origin} --token-file ${token} --home ${state}`;
    const [program, ...args] = onHost(host, ['setsid', '--wait', 'script', '-qec', command, '/dev/null']);
    await run(program, args, { env, input: 'fleet join\n' });
    const machine = { joinedState: state, env, host };
    machine.daemon = await Daemon.start({
      prepare: (target) => cpSync(state, target, { recursive: true }),
    });
    return machine;
  }

  /** Starts the connector of a machine, which uploads its records and its status. */
  connect(machine) {
    const args = ['connect', '--state', join(machine.daemon.home, 'th'), '--batch-age-ms', '200'];
    this.#spawn(args, machine.env, machine.host);
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
    for (const proxy of this.#proxies) proxy.close();
    for (const child of this.#children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const over = ended(child);
      child.kill('SIGTERM');
      await over;
    }
    rmSync(this.dir, { recursive: true, force: true });
  }
}
