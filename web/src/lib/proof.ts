// SPDX-License-Identifier: Apache-2.0 OR MIT

// Checks with WebCrypto that a leaf is in the log: its bytes, the path of hashes to the root, and the
// signature of the root. Formats: docs/spec/ledger.md. What is checked here comes from the daemon; what it
// is checked against, the key, is remembered from before where that can be.

/** One hash on the way to the root. */
export interface Rung {
  /** The other one, in base 64, and on which side it stands. */
  sibling: string;
  side: 'left' | 'right';
  /** What both make. */
  made: string;
}

/** A check: what was looked at, and whether it holds. */
export interface Check {
  name: string;
  good: boolean;
  detail: string;
}

export interface Verified {
  good: boolean;
  checks: Check[];
  path: Rung[];
  /** The hash of the leaf, and the root that was signed, in base 64. */
  leaf: string;
  root: string;
  size: number;
  origin: string;
}

export interface Proof {
  /** The bytes of the leaf. */
  leaf: Uint8Array<ArrayBuffer>;
  index: number;
  path: Uint8Array<ArrayBuffer>[];
  /** The text that is signed, and the lines of signatures. */
  note: string;
  signatures: { name: string; id: string; signature: Uint8Array<ArrayBuffer> }[];
  origin: string;
  size: number;
  root: string;
}

/** What a leaf is said to be, to the byte. */
export interface Shown {
  leaf: string | null;
  payload: string | null;
  /** In hexadecimal digits. */
  salt: string | null;
}

const HEADER = 'c2sp.org/tlog-proof@v1';
const ED25519 = 1;

export const base64 = {
  read(text: string): Uint8Array<ArrayBuffer> {
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text))
      throw new Error('no base 64');
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  },
  write: (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes)),
};

const hex = {
  read: (text: string) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)),
  write: (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
};

const encoder = new TextEncoder();

async function sha256(...parts: Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', all));
}

const same = (a: Uint8Array, b: Uint8Array) => a.length === b.length && a.every((byte, at) => byte === b[at]);

/** Reads the text of a proof. */
export function readProof(text: string): Proof {
  const [head = '', note = '', signed = ''] = text.split('\n\n');
  const lines = head.split('\n');
  const extra = lines[1]?.match(/^extra (.+)$/)?.[1];
  const index = lines[2]?.match(/^index (0|[1-9]\d*)$/)?.[1];
  if (lines[0] !== HEADER || !extra || !index) throw new Error('this is no proof of a leaf');
  const [origin = '', size = '', root = '', ...more] = note.split('\n');
  if (!/^(0|[1-9]\d*)$/.test(size) || more.length > 0) throw new Error('this is no checkpoint');
  const signatures = signed
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [, name, value] = /^— (\S+) (\S+)$/.exec(line) ?? [];
      if (!name || !value) throw new Error('this is no signature');
      const bytes = base64.read(value);
      return { name, id: hex.write(bytes.slice(0, 4)), signature: bytes.slice(4) };
    });
  return {
    leaf: base64.read(extra),
    index: Number(index),
    path: lines.slice(3).map(base64.read),
    note: `${note}\n`,
    signatures,
    origin,
    size: Number(size),
    root,
  };
}

/** Climbs from a leaf to the root (RFC 6962). Throws if the path has not the length that the place asks for. */
export async function climb(leaf: Uint8Array, proof: Proof): Promise<{ root: Uint8Array; path: Rung[] }> {
  if (proof.index >= proof.size) throw new Error('the leaf is not among those that were signed');
  const path: Rung[] = [];
  let [at, last] = [BigInt(proof.index), BigInt(proof.size) - 1n];
  let hash = leaf;
  for (const sibling of proof.path) {
    if (last === 0n) throw new Error('the path is too long');
    const left = (at & 1n) === 1n || at === last;
    hash = left
      ? await sha256(Uint8Array.of(1), sibling, hash)
      : await sha256(Uint8Array.of(1), hash, sibling);
    path.push({ sibling: base64.write(sibling), side: left ? 'left' : 'right', made: base64.write(hash) });
    if (left) {
      // A subtree without a right half goes up as it is.
      while ((at & 1n) === 0n && at !== 0n) [at, last] = [at >> 1n, last >> 1n];
    }
    [at, last] = [at >> 1n, last >> 1n];
  }
  if (last !== 0n) throw new Error('the path is too short');
  return { root: hash, path };
}

/** A key as notes name it: `name+id+key`. */
export function readKey(text: string): { name: string; id: string; key: Uint8Array<ArrayBuffer> } {
  const [, name, id, value] = /^(\S+?)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? [];
  const bytes = value ? base64.read(value) : new Uint8Array();
  if (!name || !id || bytes[0] !== ED25519 || bytes.length !== 33)
    throw new Error('this is no key of Ed25519');
  return { name, id, key: bytes.slice(1) };
}

/** Whether a key's id is the one its name and its bytes have. */
async function isItself({ name, id, key }: ReturnType<typeof readKey>): Promise<boolean> {
  const hash = await sha256(encoder.encode(`${name}\n`), Uint8Array.of(ED25519), key);
  return hex.write(hash.slice(0, 4)) === id;
}

async function isSigned(proof: Proof, key: ReturnType<typeof readKey>): Promise<boolean> {
  const lines = proof.signatures.filter((line) => line.name === key.name && line.id === key.id);
  if (lines.length === 0) return false;
  const imported = await crypto.subtle.importKey('raw', key.key, 'Ed25519', false, ['verify']);
  const results = lines.map((line) =>
    crypto.subtle.verify('Ed25519', imported, line.signature, encoder.encode(proof.note)),
  );
  return (await Promise.all(results)).every(Boolean);
}

/** Checks everything about a leaf that is shown. Whatever is wrong is a check that does not hold. */
export async function verify(text: string, keyText: string, seq: number, shown: Shown): Promise<Verified> {
  const checks: Check[] = [];
  const result: Verified = { good: false, checks, path: [], leaf: '', root: '', size: 0, origin: '' };
  const check = async (name: string, look: () => Promise<[good: boolean, detail: string]>) => {
    try {
      const [good, detail] = await look();
      checks.push({ name, good, detail });
    } catch (error) {
      checks.push({ name, good: false, detail: error instanceof Error ? error.message : String(error) });
    }
  };
  let proof: Proof | undefined;
  await check('The proof can be read', async () => {
    proof = readProof(text);
    return [
      proof.index === seq,
      proof.index === seq ? `leaf ${seq} of ${proof.size}` : `it is about leaf ${proof.index}`,
    ];
  });
  if (!proof) return result;
  const read = proof;
  const hash = await sha256(Uint8Array.of(0), read.leaf);
  [result.leaf, result.root, result.size, result.origin] = [
    base64.write(hash),
    read.root,
    read.size,
    read.origin,
  ];
  await check('What is shown is what was hashed', async () => {
    if (shown.leaf === null) return [false, 'the leaf is not there any more'];
    const equal = same(encoder.encode(shown.leaf), read.leaf);
    return [
      equal,
      equal ? `SHA-256 ${result.leaf}` : 'the leaf that is shown is another one than the proven',
    ];
  });
  await check('The payload is the one the leaf commits to', async () => {
    const said = (JSON.parse(new TextDecoder().decode(read.leaf)) as { payload?: { sha256?: string } })
      .payload?.sha256;
    if (!said)
      return [
        shown.payload === null,
        shown.payload === null ? 'the leaf has none' : 'the leaf has none, but one is shown',
      ];
    if (shown.payload === null || shown.salt === null)
      return [true, 'it was erased, or never stored; the commitment stays'];
    const made = base64.write(
      await sha256(Uint8Array.of(2), hex.read(shown.salt), encoder.encode(shown.payload)),
    );
    return [made === said, made === said ? `SHA-256 ${made}` : 'the payload that is shown is another one'];
  });
  await check('The path leads to the root', async () => {
    const climbed = await climb(hash, read);
    result.path = climbed.path;
    const made = base64.write(climbed.root);
    return [
      made === read.root,
      made === read.root ? `${climbed.path.length} hashes to ${made}` : `it leads to ${made}`,
    ];
  });
  await check('The root is signed', async () => {
    const key = readKey(keyText);
    if (!(await isItself(key))) return [false, 'the id of the key is not that of the key'];
    if (key.name !== read.origin)
      return [false, `the key is of ${key.name}, the checkpoint of ${read.origin}`];
    const good = await isSigned(read, key);
    return [good, good ? `Ed25519, key ${key.id}` : `key ${key.id} did not sign this`];
  });
  result.good = checks.every((one) => one.good);
  return result;
}
