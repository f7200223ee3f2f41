// The camera, what lies under the pointer, and which labels fit. Pure: no DOM.

export interface Camera {
  /** The middle of the view, in the layout's units. */
  x: number;
  y: number;
  /** Pixels of the screen for one unit. */
  scale: number;
}

export interface Size {
  width: number;
  height: number;
}

export interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

export interface Mark {
  id: string;
  x: number;
  y: number;
  r: number;
  project: string;
  kind: "project" | "community" | "file" | "symbol";
  label: string;
  /** How many nodes of the graph it stands for. */
  nodes: number;
}

export interface Link {
  a: number;
  b: number;
  weight: number;
  cross: boolean;
  ambiguous: boolean;
}

const MARGIN = 0.25;

/** The part of the layout that is asked for: the view, and a quarter of it on every side. */
export function askedBox(camera: Camera, size: Size): Box {
  const half = { x: (size.width / camera.scale) * (0.5 + MARGIN), y: (size.height / camera.scale) * (0.5 + MARGIN) };
  return { x0: camera.x - half.x, y0: camera.y - half.y, x1: camera.x + half.x, y1: camera.y + half.y };
}

export function toScreen(camera: Camera, size: Size, x: number, y: number): [number, number] {
  return [(x - camera.x) * camera.scale + size.width / 2, (y - camera.y) * camera.scale + size.height / 2];
}

export function toLayout(camera: Camera, size: Size, x: number, y: number): [number, number] {
  return [(x - size.width / 2) / camera.scale + camera.x, (y - size.height / 2) / camera.scale + camera.y];
}

export const MIN_SCALE = 0.01;
export const MAX_SCALE = 20_000;

/** Zoom by a factor and keep what lies under a point of the screen where it is. */
export function zoomed(camera: Camera, size: Size, factor: number, x: number, y: number): Camera {
  const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, camera.scale * factor));
  const [lx, ly] = toLayout(camera, size, x, y);
  return { scale, x: lx - (x - size.width / 2) / scale, y: ly - (y - size.height / 2) / scale };
}

/** A camera that shows a box whole. */
export function fitted(box: Box, size: Size): Camera {
  const width = Math.max(box.x1 - box.x0, 1e-6);
  const height = Math.max(box.y1 - box.y0, 1e-6);
  const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, 0.92 * Math.min(size.width / width, size.height / height)));
  return { x: (box.x0 + box.x1) / 2, y: (box.y0 + box.y1) / 2, scale };
}

export const MIN_PIXELS = 3;

/** The radius of a mark on the screen, never too small to see. */
export const pixels = (mark: Mark, scale: number): number => Math.max(MIN_PIXELS, mark.r * scale);

/** The mark under a point of the screen: the smallest of those that hold it. */
export function hit(marks: readonly Mark[], camera: Camera, size: Size, x: number, y: number): number {
  let found = -1;
  for (let at = 0; at < marks.length; at += 1) {
    const mark = marks[at]!;
    const [mx, my] = toScreen(camera, size, mark.x, mark.y);
    const radius = Math.max(pixels(mark, camera.scale), 6);
    if ((mx - x) ** 2 + (my - y) ** 2 > radius ** 2) continue;
    if (found < 0 || mark.r < marks[found]!.r) found = at;
  }
  return found;
}

/** A link is found this far from its line. */
const LINK_PIXELS = 6;

/** The link under a point of the screen: the nearest, those between projects first; -1 for none. */
export function hitLink(links: readonly Link[], marks: readonly Mark[], camera: Camera, size: Size, x: number, y: number): number {
  let [found, distance] = [-1, LINK_PIXELS];
  for (let at = 0; at < links.length; at += 1) {
    const link = links[at]!;
    const crossed = found >= 0 && links[found]!.cross;
    if (crossed && !link.cross) continue;
    const [a, b] = [marks[link.a]!, marks[link.b]!];
    const [ax, ay] = toScreen(camera, size, a.x, a.y);
    const [bx, by] = toScreen(camera, size, b.x, b.y);
    const [dx, dy] = [bx - ax, by - ay];
    const along = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
    const away = Math.hypot(ax + along * dx - x, ay + along * dy - y);
    if (away < distance || (away < LINK_PIXELS && link.cross && !crossed)) [found, distance] = [at, away];
  }
  return found;
}

/** Whether a mark is an open region on the screen: what lies in it, or passes through, goes first. */
export function isRegion(mark: Mark, scale: number): boolean {
  return (mark.kind === "project" || mark.kind === "community") && pixels(mark, scale) > REGION_PIXELS;
}

const REGION_PIXELS = 14;
const CELL = { width: 120, height: 22 };
const MAX_LABELS = 150;
const LABELLED_PIXELS = 8;

/** The marks that get a label: the largest of each cell of a grid over the screen. */
export function labelled(marks: readonly Mark[], camera: Camera, size: Size, always: ReadonlySet<number>): number[] {
  const bySize = order(marks);
  const first = [...always].filter((at) => at < marks.length);
  const taken = new Set<string>();
  const found: number[] = [];
  for (const at of first.length ? [...first, ...bySize.filter((at) => !always.has(at))] : bySize) {
    const mark = marks[at]!;
    const [x, y] = labelPlace(mark, camera, size);
    if (x < 0 || y < 0 || x > size.width || y > size.height) continue;
    if (mark.kind !== "project" && mark.r * camera.scale < LABELLED_PIXELS && !always.has(at)) continue;
    const cell = `${Math.floor(x / CELL.width)}:${Math.floor(y / CELL.height)}`;
    if (taken.has(cell) && !always.has(at)) continue;
    taken.add(cell);
    found.push(at);
    if (found.length >= MAX_LABELS) break;
  }
  return found;
}

/** Where a mark's label stands: a region's at its upper rim, since what lies in it has its own. */
export function labelPlace(mark: Mark, camera: Camera, size: Size): [number, number] {
  const [x, y] = toScreen(camera, size, mark.x, mark.y);
  return isRegion(mark, camera.scale) ? [x, Math.max(14, y - pixels(mark, camera.scale) + 14)] : [x, y + 4];
}

const orders = new WeakMap<readonly Mark[], number[]>();

/** The marks of a view from the largest to the smallest, sorted once. */
function order(marks: readonly Mark[]): number[] {
  let known = orders.get(marks);
  if (!known) {
    known = marks.map((_, at) => at).sort((one, other) => marks[other]!.r - marks[one]!.r || one - other);
    orders.set(marks, known);
  }
  return known;
}

/** The next mark in the direction of an arrow key, for moving without a pointer. */
export function neighbour(marks: readonly Mark[], from: number, dx: number, dy: number): number {
  const start = marks[from];
  if (!start) return marks.length ? 0 : -1;
  let [best, distance] = [from, Infinity];
  marks.forEach((mark, at) => {
    const [x, y] = [mark.x - start.x, mark.y - start.y];
    const along = x * dx + y * dy;
    const across = Math.abs(x * dy) + Math.abs(y * dx);
    if (at === from || along <= 0) return;
    const cost = along + 2 * across;
    if (cost < distance) [best, distance] = [at, cost];
  });
  return best;
}

/** A colour of the palette for a project: stable by its id, so that a project keeps its colour. */
export function colourOf(project: string, colours: number): number {
  let hash = 2_166_136_261;
  for (let at = 0; at < project.length; at += 1) hash = Math.imul(hash ^ project.charCodeAt(at), 16_777_619);
  return (hash >>> 0) % colours;
}
