// SPDX-License-Identifier: Apache-2.0 OR MIT

// Verifies with WebCrypto that a record is in the ledger: its bytes, the Merkle path to the root, and the
// signature of the root. Formats: docs/spec/ledger.md. The data comes from the daemon; the key is compared with
// the one this browser stored earlier.

/** One step of the Merkle path. */
export interface Rung {
  /** The sibling hash in base64, and its side. */
  sibling: string;
  side: 'left' | 'right';
  /** Hash of the node and its sibling, which is their parent. */
  made: string;
}

/** One check and its result. */
export interface Check {
  name: string;
  good: boolean;
  detail: string;
}

export interface Verified {
  good: boolean;
  checks: Check[];
  path: Rung[];
  /** Leaf hash and signed root, in base64. */
  leaf: string;
  root: string;
  size: number;
  origin: string;
}

export interface Proof {
  /** Bytes of the leaf. */
  leaf: Uint8Array<ArrayBuffer>;
  index: number;
  path: Uint8Array<ArrayBuffer>[];
  /** Signed text and signature lines. */
  note: string;
  signatures: { name: string; id: string; signature: Uint8Array<ArrayBuffer> }[];
  origin: string;
  size: number;
  root: string;
}

/** The shown record as raw text. */
export interface Shown {
  leaf: string | null;
  payload: string | null;
  /** Salt of the payload's hash, in hexadecimal. */
  salt: string | null;
}

const HEADER = 'c2sp.org/tlog-proof@v1';
const ED25519 = 1;

export const base64 = {
  read(text: string): Uint8Array<ArrayBuffer> {
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text))
      throw new Error('invalid base64');
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
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
  if (lines[0] !== HEADER || !extra || !index) throw new Error('invalid proof');
  const [origin = '', size = '', root = '', ...more] = note.split('\n');
  if (!/^(0|[1-9]\d*)$/.test(size) || more.length > 0) throw new Error('invalid checkpoint');
  const signatures = signed
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [, name, value] = /^— (\S+) (\S+)$/.exec(line) ?? [];
      if (!name || !value) throw new Error('invalid signature');
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

/** Computes the root from a leaf (RFC 6962). Throws if the path has the wrong length for the index. */
export async function climb(leaf: Uint8Array, proof: Proof): Promise<{ root: Uint8Array; path: Rung[] }> {
  if (proof.index >= proof.size) throw new Error('the record is not covered by the checkpoint');
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
      // A subtree without a right half is promoted unchanged.
      while ((at & 1n) === 0n && at !== 0n) [at, last] = [at >> 1n, last >> 1n];
    }
    [at, last] = [at >> 1n, last >> 1n];
  }
  if (last !== 0n) throw new Error('the path is too short');
  return { root: hash, path };
}

/** Parses a key in the note format `name+id+key`. */
export function readKey(text: string): { name: string; id: string; key: Uint8Array<ArrayBuffer> } {
  const [, name, id, value] = /^(\S+?)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? [];
  const bytes = value ? base64.read(value) : new Uint8Array();
  if (!name || !id || bytes[0] !== ED25519 || bytes.length !== 33) throw new Error('invalid Ed25519 key');
  return { name, id, key: bytes.slice(1) };
}

/** Whether the id of a key matches its name and bytes. */
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

/** Verifies the shown record. Every problem becomes a failed check. */
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
  await check('Proof is valid', async () => {
    proof = readProof(text);
    return [
      proof.index === seq,
      proof.index === seq ? `record ${seq} of ${proof.size}` : `proof is for record ${proof.index}`,
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
  await check('Shown record matches the hash', async () => {
    if (shown.leaf === null) return [false, 'the record was pruned'];
    const equal = same(encoder.encode(shown.leaf), read.leaf);
    return [equal, equal ? `SHA-256 ${result.leaf}` : 'the shown record differs from the proven one'];
  });
  await check('Payload matches the commitment', async () => {
    const said = (JSON.parse(new TextDecoder().decode(read.leaf)) as { payload?: { sha256?: string } })
      .payload?.sha256;
    if (!said)
      return [
        shown.payload === null,
        shown.payload === null ? 'the record has no payload' : 'the record has no payload, but one is shown',
      ];
    if (shown.payload === null || shown.salt === null)
      return [true, 'payload erased or not stored; the commitment remains'];
    const made = base64.write(
      await sha256(Uint8Array.of(2), hex.read(shown.salt), encoder.encode(shown.payload)),
    );
    return [made === said, made === said ? `SHA-256 ${made}` : 'the shown payload differs'];
  });
  await check('Path leads to the root', async () => {
    const climbed = await climb(hash, read);
    result.path = climbed.path;
    const made = base64.write(climbed.root);
    return [
      made === read.root,
      made === read.root ? `${climbed.path.length} hashes to ${made}` : `path leads to ${made}`,
    ];
  });
  await check('Root is signed', async () => {
    const key = readKey(keyText);
    if (!(await isItself(key))) return [false, 'the key id does not match the key'];
    if (key.name !== read.origin) return [false, `key of ${key.name}, but checkpoint of ${read.origin}`];
    const good = await isSigned(read, key);
    return [good, good ? `Ed25519, key ${key.id}` : `no valid signature of key ${key.id}`];
  });
  result.good = checks.every((one) => one.good);
  return result;
}
