import assert from "node:assert/strict";
import { test } from "node:test";
import { askedBox, colourOf, fitted, hit, hitLink, isRegion, labelled, neighbour, toLayout, toScreen, zoomed, type Link, type Mark } from "../src/graph/view.ts";
import { marked, worthAsking } from "../src/words.ts";

const size = { width: 800, height: 600 };
const mark = (id: string, x: number, y: number, r: number, kind: Mark["kind"] = "project"): Mark => ({ id, x, y, r, kind, project: id, label: id, nodes: 1 });

test("a point of the screen keeps its place while one zooms", () => {
  const before = { x: 3, y: 4, scale: 2 };
  const under = toLayout(before, size, 100, 500);
  const after = zoomed(before, size, 1.7, 100, 500);
  const again = toLayout(after, size, 100, 500);
  assert.ok(Math.abs(under[0] - again[0]) < 1e-9 && Math.abs(under[1] - again[1]) < 1e-9);
  assert.equal(zoomed({ ...before, scale: 20_000 }, size, 10, 0, 0).scale, 20_000);
});

test("screen and layout are each other's inverse", () => {
  const camera = { x: -7, y: 2.5, scale: 13 };
  const [x, y] = toScreen(camera, size, 1, 2);
  assert.deepEqual(toLayout(camera, size, x, y).map((value) => Math.round(value * 1e9) / 1e9), [1, 2]);
});

test("a fitted box is whole on the screen, and asked for with a margin", () => {
  const box = { x0: -10, y0: -2, x1: 30, y1: 8 };
  const camera = fitted(box, size);
  const [x0, y0] = toScreen(camera, size, box.x0, box.y0);
  const [x1, y1] = toScreen(camera, size, box.x1, box.y1);
  assert.ok(x0 >= 0 && y0 >= 0 && x1 <= size.width && y1 <= size.height);
  const asked = askedBox(camera, size);
  assert.ok(asked.x0 < box.x0 && asked.x1 > box.x1);
});

test("the smallest mark under the pointer is hit", () => {
  const marks = [mark("large", 0, 0, 50), mark("small", 10, 0, 5)];
  const camera = { x: 0, y: 0, scale: 1 };
  assert.equal(hit(marks, camera, size, 410, 300), 1);
  assert.equal(hit(marks, camera, size, 370, 300), 0);
  assert.equal(hit(marks, camera, size, 0, 0), -1);
});

test("one label a cell, the largest first, and what is lit always", () => {
  const marks = [mark("small", 1, 1, 1), mark("large", 0, 0, 10), mark("lit", 2, 2, 0.5, "symbol")];
  const camera = { x: 0, y: 0, scale: 1 };
  assert.deepEqual(labelled(marks, camera, size, new Set()), [1]);
  assert.deepEqual(labelled(marks, camera, size, new Set([2])).sort(), [2]);
  assert.deepEqual(labelled([mark("file", 0, 0, 1, "file")], camera, size, new Set()), []);
  // A region is named at its rim, so the middle is free for what lies there.
  assert.deepEqual(labelled([mark("small", 1, 1, 1), mark("region", 0, 0, 90)], camera, size, new Set()), [1, 0]);
});

test("arrows lead to the nearest mark in their direction", () => {
  const marks = [mark("here", 0, 0, 1), mark("right", 10, 1, 1), mark("far", 90, 0, 1), mark("up", 0, -20, 1)];
  assert.equal(neighbour(marks, 0, 1, 0), 1);
  assert.equal(neighbour(marks, 0, 0, -1), 3);
  assert.equal(neighbour(marks, 0, -1, 0), 0);
  assert.equal(neighbour(marks, -1, 1, 0), 0);
  assert.equal(neighbour([], -1, 1, 0), -1);
});

test("a project keeps its colour", () => {
  assert.equal(colourOf("shop-1234", 8), colourOf("shop-1234", 8));
  assert.equal(new Set(Array.from({ length: 200 }, (_, at) => colourOf(`p${at}`, 8))).size, 8);
});

test("words are marked as they stand, and nothing is lost", () => {
  assert.deepEqual(marked("Rate limit: 20/s", "rate"), [["Rate", true], [" limit: 20/s", false]]);
  const text = "a.b (c) [d] $& \\";
  assert.equal(marked(text, "c $& d.*").map(([part]) => part).join(""), text);
  assert.deepEqual(marked("text", "?"), [["text", false]]);
});

test("two letters are worth asking, or one of a script without blanks", () => {
  assert.equal(worthAsking("a"), false);
  assert.equal(worthAsking("ab"), true);
  assert.equal(worthAsking("鍵"), true);
  assert.equal(worthAsking("  "), false);
});

test("the link under a point is the nearest, one between projects first", () => {
  const camera = { x: 0, y: 0, scale: 1 };
  const marks = [mark("a", -100, 0, 5), mark("b", 100, 0, 5), mark("c", -100, 4, 5), mark("d", 100, 4, 5)];
  const link = (a: number, b: number, cross: boolean): Link => ({ a, b, weight: 1, cross, ambiguous: false });
  const links = [link(0, 1, false), link(2, 3, true)];
  assert.equal(hitLink(links, marks, camera, size, 400, 300), 1);
  assert.equal(hitLink(links.slice(0, 1), marks, camera, size, 400, 301), 0);
  assert.equal(hitLink(links, marks, camera, size, 400, 330), -1);
  assert.equal(hitLink(links, marks, camera, size, 290, 300), -1, "beyond the end of a link there is none");
  assert.equal(hitLink([], marks, camera, size, 400, 300), -1);
});

test("a large project is a region, a file is none", () => {
  assert.equal(isRegion(mark("a", 0, 0, 5), 4), true);
  assert.equal(isRegion(mark("a", 0, 0, 5), 1), false);
  assert.equal(isRegion(mark("a", 0, 0, 50, "file"), 4), false);
});
