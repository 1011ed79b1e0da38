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

test("whoever awaits has the error, and nobody else hears of it", async () => {
  await expect(failures.watch(fails())).rejects.toThrow("no");
  await settled();
  failures.throw();
  expect([told, failures.isQuiet]).toEqual([[], true]);
});

test("what is let go is told, and thrown by whoever waits next, once", async () => {
  void failures.watch(fails());
  expect(failures.isQuiet).toBe(false);
  await settled();
  expect(told).toEqual(["no"]);
  expect(() => failures.throw()).toThrow("no");
  failures.throw();
});

test("whoever waits is not told as well", async () => {
  const release = failures.hold();
  failures.add(new Error("a"));
  failures.add(new Error("b"));
  expect(() => failures.throw()).toThrow("a; b");
  release();
  failures.add(new Error("c"));
  expect(told).toEqual(["c"]);
});
