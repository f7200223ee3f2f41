// The picture, in WebGL2: one program for marks and one for links. Buffers are made once and refilled.
// In software rendering one-pixel lines are ten to forty times cheaper than the quads of the
// libraries (docs/adr, the page), so links inside a project are lines; those between projects are
// few, and are drawn as quads of two pixels.

import { colourOf, pixels, toScreen, type Camera, type Link, type Mark, type Size } from "./view.ts";

export type Colour = readonly [number, number, number];

export interface Theme {
  palette: readonly Colour[];
  inner: Colour;
  cross: Colour;
  lit: Colour;
}

const MARK_VERTEX = `#version 300 es
in vec2 place; in float radius; in vec4 colour; in float shape;
uniform vec2 size;
out vec4 tint; flat out float form; flat out float width;
void main() {
  gl_Position = vec4(place.x / size.x * 2.0 - 1.0, 1.0 - place.y / size.y * 2.0, 0.0, 1.0);
  gl_PointSize = radius * 2.0 + 2.0;
  tint = colour; form = shape; width = radius;
}`;
const MARK_FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint; flat in float form; flat in float width;
out vec4 colour;
void main() {
  vec2 at = (gl_PointCoord - 0.5) * (width * 2.0 + 2.0);
  float distance = form < 0.5 ? length(at) : form < 1.5 ? max(abs(at.x), abs(at.y)) * 1.15 : (abs(at.x) + abs(at.y)) * 0.85;
  float edge = clamp(width + 0.5 - distance, 0.0, 1.0);
  float rim = form < 1.5 && width > 14.0 ? mix(1.0, 0.25, clamp(width - 2.0 - distance, 0.0, 1.0)) : 1.0;
  colour = vec4(tint.rgb, tint.a * edge * rim);
}`;
const LINK_VERTEX = `#version 300 es
in vec2 place; in vec4 colour;
uniform vec2 size;
out vec4 tint;
void main() {
  gl_Position = vec4(place.x / size.x * 2.0 - 1.0, 1.0 - place.y / size.y * 2.0, 0.0, 1.0);
  tint = colour;
}`;
const LINK_FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint;
out vec4 colour;
void main() { colour = tint; }`;

const SHAPES: Record<Mark["kind"], number> = { project: 0, file: 1, symbol: 2 };
const MARK_FLOATS = 8;
const LINK_FLOATS = 6;
const CROSS_PIXELS = 2;
const DASH_PIXELS = 6;

function program(gl: WebGL2RenderingContext, vertex: string, fragment: string): WebGLProgram {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
    const shader = gl.createShader(kind)!;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made) ?? "no program");
  return made;
}

export class Picture {
  readonly #gl: WebGL2RenderingContext;
  readonly #marks: WebGLProgram;
  readonly #links: WebGLProgram;
  readonly #buffer: WebGLBuffer;
  #floats = new Float32Array(1 << 16);

  private constructor(gl: WebGL2RenderingContext) {
    this.#gl = gl;
    this.#marks = program(gl, MARK_VERTEX, MARK_FRAGMENT);
    this.#links = program(gl, LINK_VERTEX, LINK_FRAGMENT);
    this.#buffer = gl.createBuffer();
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** The picture on a canvas; undefined where the browser draws no WebGL2. */
  static on(canvas: HTMLCanvasElement): Picture | undefined {
    const gl = canvas.getContext("webgl2", { alpha: true, antialias: false, powerPreference: "low-power" });
    return gl ? new Picture(gl) : undefined;
  }

  draw(marks: readonly Mark[], links: readonly Link[], camera: Camera, size: Size, ratio: number, theme: Theme, lit: ReadonlySet<number>): void {
    const gl = this.#gl;
    gl.viewport(0, 0, Math.round(size.width * ratio), Math.round(size.height * ratio));
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const places = marks.map((mark) => toScreen(camera, size, mark.x, mark.y));
    const dim = lit.size > 0;
    const inner = links.filter((link) => !link.cross);
    const alpha = Math.max(0.06, Math.min(0.5, 8 / Math.sqrt(inner.length + 1))) * (dim ? 0.4 : 1);
    this.#lines(inner, places, theme.inner, alpha, size);
    this.#bands(links.filter((link) => link.cross && !isLit(link, lit)), places, theme.cross, dim ? 0.35 : 0.9, size);
    this.#discs(marks, places, camera, size, ratio, theme, lit);
    this.#bands(links.filter((link) => isLit(link, lit)), places, theme.lit, 1, size);
  }

  #room(floats: number): Float32Array {
    if (this.#floats.length < floats) this.#floats = new Float32Array(1 << Math.ceil(Math.log2(floats)));
    return this.#floats;
  }

  #lines(links: readonly Link[], places: readonly [number, number][], colour: Colour, alpha: number, size: Size): void {
    const floats = this.#room(links.length * 2 * LINK_FLOATS);
    let at = 0;
    for (const link of links) {
      for (const [x, y] of [places[link.a]!, places[link.b]!]) {
        floats.set([x, y, ...colour, alpha], at);
        at += LINK_FLOATS;
      }
    }
    this.#strokes(floats.subarray(0, at), at / LINK_FLOATS, this.#gl.LINES, size);
  }

  /** Links between projects: bands of two pixels, dashed where they are ambiguous. */
  #bands(links: readonly Link[], places: readonly [number, number][], colour: Colour, alpha: number, size: Size): void {
    const pieces: [number, number, number, number][] = [];
    for (const link of links) {
      const [[x0, y0], [x1, y1]] = [places[link.a]!, places[link.b]!];
      if (!link.ambiguous) {
        pieces.push([x0, y0, x1, y1]);
        continue;
      }
      const steps = Math.min(200, Math.max(1, Math.floor(Math.hypot(x1 - x0, y1 - y0) / DASH_PIXELS)));
      for (let step = 0; step < steps; step += 2) {
        const [from, to] = [step / steps, (step + 1) / steps];
        pieces.push([x0 + (x1 - x0) * from, y0 + (y1 - y0) * from, x0 + (x1 - x0) * to, y0 + (y1 - y0) * to]);
      }
    }
    const floats = this.#room(pieces.length * 6 * LINK_FLOATS);
    let at = 0;
    for (const [x0, y0, x1, y1] of pieces) {
      const length = Math.hypot(x1 - x0, y1 - y0) || 1;
      const [nx, ny] = [(-(y1 - y0) / length) * (CROSS_PIXELS / 2), ((x1 - x0) / length) * (CROSS_PIXELS / 2)];
      const corners = [[x0 + nx, y0 + ny], [x0 - nx, y0 - ny], [x1 + nx, y1 + ny], [x1 + nx, y1 + ny], [x0 - nx, y0 - ny], [x1 - nx, y1 - ny]];
      for (const [x, y] of corners) {
        floats.set([x!, y!, ...colour, alpha], at);
        at += LINK_FLOATS;
      }
    }
    this.#strokes(floats.subarray(0, at), at / LINK_FLOATS, this.#gl.TRIANGLES, size);
  }

  #strokes(floats: Float32Array, vertices: number, mode: number, size: Size): void {
    if (vertices === 0) return;
    const gl = this.#gl;
    gl.useProgram(this.#links);
    this.#fill(floats, this.#links, [["place", 2], ["colour", 4]], size);
    gl.drawArrays(mode, 0, vertices);
  }

  #discs(marks: readonly Mark[], places: readonly [number, number][], camera: Camera, size: Size, ratio: number, theme: Theme, lit: ReadonlySet<number>): void {
    const floats = this.#room(marks.length * MARK_FLOATS);
    let at = 0;
    marks.forEach((mark, index) => {
      const colour = lit.has(index) ? theme.lit : theme.palette[colourOf(mark.project, theme.palette.length)]!;
      const alpha = lit.size > 0 && !lit.has(index) ? 0.3 : 0.95;
      floats.set([...places[index]!, pixels(mark, camera.scale) * ratio, ...colour, alpha, SHAPES[mark.kind]], at);
      at += MARK_FLOATS;
    });
    if (at === 0) return;
    const gl = this.#gl;
    gl.useProgram(this.#marks);
    this.#fill(floats.subarray(0, at), this.#marks, [["place", 2], ["radius", 1], ["colour", 4], ["shape", 1]], size);
    gl.drawArrays(gl.POINTS, 0, marks.length);
  }

  #fill(floats: Float32Array, used: WebGLProgram, members: readonly [name: string, size: number][], size: Size): void {
    const gl = this.#gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#buffer);
    gl.bufferData(gl.ARRAY_BUFFER, floats, gl.DYNAMIC_DRAW);
    const stride = members.reduce((sum, [, count]) => sum + count, 0) * 4;
    let offset = 0;
    for (const [name, count] of members) {
      const place = gl.getAttribLocation(used, name);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, count, gl.FLOAT, false, stride, offset);
      offset += count * 4;
    }
    gl.uniform2f(gl.getUniformLocation(used, "size"), size.width, size.height);
  }
}

const isLit = (link: Link, lit: ReadonlySet<number>): boolean => lit.has(link.a) && lit.has(link.b);
