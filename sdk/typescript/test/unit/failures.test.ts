// SPDX-License-Identifier: Apache-2.0 OR MIT

import { beforeEach, expect, test } from "vitest";
import { Failures } from "../../src/hooks/failures.js";

let told: string[];
let failures: Failures;

beforeEach(() => {
  told = [];
  failures = new Failures(
    (error) => told.push(error.message),
    () => {},
  );
});

const fails = () => Promise.reject(new Error("no"));
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

test("an awaited error is thrown to its caller and reported nowhere else", async () => {
  await expect(failures.watch(fails())).rejects.toThrow("no");
  await settled();
  failures.throw();
  expect([told, failures.isQuiet]).toEqual([[], true]);
});

test("an unawaited error is reported, and thrown once to the next caller", async () => {
  void failures.watch(fails());
  expect(failures.isQuiet).toBe(false);
  await settled();
  expect(told).toEqual(["no"]);
  expect(() => failures.throw()).toThrow("no");
  failures.throw();
});

test("an error thrown to a waiting caller is not reported as well", async () => {
  const release = failures.hold();
  failures.add(new Error("a"));
  failures.add(new Error("b"));
  expect(() => failures.throw()).toThrow("a; b");
  release();
  failures.add(new Error("c"));
  expect(told).toEqual(["c"]);
});
