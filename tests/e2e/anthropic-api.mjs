// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// anthropic-api.mjs MODEL CERTIFICATE KEY SETTINGS
//
// Serves the API that Claude Code signs in to, behind a proxy on loopback. Set HTTPS_PROXY to the address
// that is printed, and NODE_EXTRA_CA_CERTS to CERTIFICATE. Messages go to the scripted model at MODEL. The
// server-managed settings of the account's organisation are in the file SETTINGS; without this file there are
// none. Every other request is answered with "not found", so that nothing leaves the machine. The program
// ends when its standard input ends.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';

const [model, certificate, key, settingsFile] = process.argv.slice(2);

/** The text whose hash the client compares: keys in order, no blanks. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}

function managedSettings(response) {
  if (!existsSync(settingsFile)) return reply(response, 404, {});
  const settings = JSON.parse(readFileSync(settingsFile, 'utf8'));
  const checksum = `sha256:${createHash('sha256').update(canonical(settings)).digest('hex')}`;
  reply(response, 200, { uuid: 'settings', checksum, settings });
}

function reply(response, status, body) {
  // Without a request id, the client assumes that a proxy sent the answer.
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_scripted' });
  response.end(JSON.stringify(body));
}

function passOn(request, response) {
  const headers = { ...request.headers, host: new URL(model).host };
  const passed = http.request(new URL(request.url, model), { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, { ...answer.headers, 'request-id': 'req_scripted' });
    answer.pipe(response);
  });
  passed.on('error', () => response.destroy());
  request.pipe(passed);
}

const options = { cert: readFileSync(certificate), key: readFileSync(key) };
const api = https.createServer(options, (request, response) => {
  process.stderr.write(`${request.method} ${request.headers.host}${request.url}\n`);
  if (request.url.startsWith('/v1/messages')) return passOn(request, response);
  if (request.url.startsWith('/api/claude_code/settings')) return managedSettings(response);
  reply(response, 404, {});
});

const proxy = http.createServer((_, response) => reply(response, 404, {}));
proxy.on('connect', (_, socket) => {
  socket.on('error', () => socket.destroy());
  socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  api.emit('connection', socket);
});
proxy.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${proxy.address().port}\n`));
process.stdin.resume().on('end', () => process.exit());
