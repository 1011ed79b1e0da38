// SPDX-License-Identifier: Apache-2.0 OR MIT

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { base64, climb, readProof, type Shown, verify } from '../src/lib/proof';

const vectors = JSON.parse(
  readFileSync(new URL('../../docs/spec/ledger-vectors.json', import.meta.url), 'utf8'),
).versions['1'];
const proof: string = vectors.proof_of_leaf_1;
const key: string = vectors.key;
const leaf = vectors.leaves[1];
const hex = (text: string) =>
  [...base64.read(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const shown: Shown = { leaf: leaf.leaf, payload: leaf.payload, salt: hex(leaf.salt) };

const failing = async (text: string, of: string, what: Shown, seq = 1) =>
  (await verify(text, of, seq, what)).checks.filter((check) => !check.good).map((check) => check.name);

describe('the proof of the specification', () => {
  test('holds', async () => {
    const verified = await verify(proof, key, 1, shown);
    expect(verified.checks.filter((check) => !check.good)).toEqual([]);
    expect(verified).toMatchObject({ good: true, leaf: leaf.hash, root: vectors.root, size: 3 });
    expect(verified.path.map((rung) => rung.side)).toEqual(['left', 'right']);
  });

  test('fails for a leaf, payload or salt with one changed letter', async () => {
    const other = shown.leaf?.replace('"deny"', '"allow"') ?? '';
    expect(await failing(proof, key, { ...shown, leaf: other })).toEqual(['Shown record matches the hash']);
    const payload = shown.payload?.replace('curl', 'cure') ?? '';
    expect(await failing(proof, key, { ...shown, payload })).toEqual(['Payload matches the commitment']);
    const salt = `00${shown.salt?.slice(2)}`;
    expect(await failing(proof, key, { ...shown, salt })).toEqual(['Payload matches the commitment']);
    expect(await failing(proof, key, shown, 2)).toEqual(['Proof is valid']);
  });

  test('fails if the proven leaf is a different one', async () => {
    const other = shown.leaf?.replace('"deny"', '"none"') ?? '';
    const changed = proof.replace(/^extra .*$/m, `extra ${btoa(other)}`);
    expect(await failing(changed, key, { ...shown, leaf: other })).toEqual(['Path leads to the root']);
  });

  test('fails with another root, size, path, signature or key', async () => {
    const swap = (text: string, from: string, to: string) => text.replaceAll(from, to);
    const hash = vectors.leaves[2].hash;
    const wrong = {
      root: swap(proof, vectors.root, hash),
      size: swap(proof, '\n3\n', '\n4\n'),
      path: swap(proof, hash, vectors.root),
      signature: proof.replace(/NIHVQs/, 'NIHVQt'),
    };
    expect(await failing(wrong.root, key, shown)).toEqual(['Path leads to the root', 'Root is signed']);
    expect(await failing(wrong.size, key, shown)).toEqual(['Root is signed']);
    expect((await failing(wrong.path, key, shown)).length).toBeGreaterThan(0);
    expect(await failing(wrong.signature, key, shown)).toEqual(['Root is signed']);
    expect(await failing(proof, key.replace('AYqI', 'AYqJ'), shown)).toEqual(['Root is signed']);
    expect(await failing(proof, key.replace('example.com', 'example.org'), shown)).toEqual([
      'Root is signed',
    ]);
    expect(await failing('', key, shown)).toEqual(['Proof is valid']);
  });

  test('fails with a path that is too short or too long', async () => {
    const read = readProof(proof);
    const hash = base64.read(leaf.hash);
    await expect(climb(hash, { ...read, path: read.path.slice(1) })).rejects.toThrow('too short');
    await expect(climb(hash, { ...read, path: [...read.path, hash] })).rejects.toThrow('too long');
    await expect(climb(hash, { ...read, index: 3 })).rejects.toThrow('not covered');
  });
});

describe('every leaf of the specification', () => {
  test.each([0, 1, 2])('leaf %i climbs to the root', async (index) => {
    const { path, hash } = vectors.leaves[index];
    const read = { ...readProof(proof), index, path: path.map(base64.read) };
    const climbed = await climb(base64.read(hash), read);
    expect(base64.write(climbed.root)).toBe(vectors.root);
  });
});
