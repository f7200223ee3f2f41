// The picture, in WebGL2. What a view holds is put into buffers once, in the layout's own units;
// moving the view changes three numbers and draws again.
//
// In software rendering one-pixel lines are ten to forty times cheaper than the quads of the
// libraries (docs/adr, the page), so links inside a project are lines; those between projects are
// few, and are drawn as bands of two pixels. Places are kept from a point near the view, since
// thirty-two bits hold too few digits for the whole plane at a high zoom.

import { MIN_PIXELS, colourOf, type Camera, type Link, type Mark, type Size } from "./view.ts";

export type Colour = readonly [number, number, number];

export interface Theme {
  palette: readonly Colour[];
  inner: Colour;
  cross: Colour;
  lit: Colour;
}

const PLACED = `
uniform vec2 middle; uniform float scale; uniform vec2 size;
vec2 onScreen(vec2 place) { return (place - middle) * scale; }
vec4 clip(vec2 at) { return vec4(at.x / size.x * 2.0, -at.y / size.y * 2.0, 0.0, 1.0); }
`;
const MARK_VERTEX = `#version 300 es
in vec2 place; in float radius; in vec4 colour; in float shape;
${PLACED}
out vec4 tint; out vec2 at; flat out float form; flat out float width;
void main() {
  width = max(radius * scale, ${MIN_PIXELS.toFixed(1)});
  at = vec2(float(gl_VertexID & 1) * 2.0 - 1.0, float(gl_VertexID >> 1) * 2.0 - 1.0) * (width + 1.0);
  gl_Position = clip(onScreen(place) + at);
  tint = colour; form = shape;
}`;
const MARK_FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint; in vec2 at; flat in float form; flat in float width;
out vec4 colour;
void main() {
  float distance = form < 0.5 ? length(at) : form < 1.5 ? max(abs(at.x), abs(at.y)) * 1.15 : (abs(at.x) + abs(at.y)) * 0.85;
  float edge = clamp(width + 0.5 - distance, 0.0, 1.0);
  float rim = form < 1.5 && width > 14.0 ? mix(1.0, 0.25, clamp(width - 2.0 - distance, 0.0, 1.0)) : 1.0;
  colour = vec4(tint.rgb, tint.a * edge * rim);
}`;
const LINE_VERTEX = `#version 300 es
in vec2 place;
${PLACED}
void main() { gl_Position = clip(onScreen(place)); }`;
const LINE_FRAGMENT = `#version 300 es
precision mediump float;
uniform vec4 tint;
out vec4 colour;
void main() { colour = tint; }`;
const BAND_VERTEX = `#version 300 es
in vec2 start; in vec2 end; in vec4 colour; in float dashed;
${PLACED}
out vec4 tint; out float along; flat out float broken;
void main() {
  vec2 a = onScreen(start); vec2 b = onScreen(end);
  float reach = max(length(b - a), 0.001);
  vec2 side = vec2(a.y - b.y, b.x - a.x) / reach;
  float far = float(gl_VertexID >> 1);
  gl_Position = clip(mix(a, b, far) + side * (float(gl_VertexID & 1) * 2.0 - 1.0));
  tint = colour; along = far * reach; broken = dashed;
}`;
const BAND_FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint; in float along; flat in float broken;
out vec4 colour;
void main() {
  if (broken > 0.5 && mod(along, 12.0) > 6.0) discard;
  colour = tint;
}`;

const SHAPES: Record<Mark["kind"], number> = { project: 0, community: 0, file: 1, symbol: 2 };
const MARK_MEMBERS = [["place", 2], ["radius", 1], ["colour", 4], ["shape", 1]] as const;
const LINE_MEMBERS = [["place", 2]] as const;
const BAND_MEMBERS = [["start", 2], ["end", 2], ["colour", 4], ["dashed", 1]] as const;
type Members = readonly (readonly [name: string, floats: number])[];

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

/** One kind of thing: its program, and a buffer that is made once and refilled. */
class Layer {
  readonly #gl: WebGL2RenderingContext;
  readonly #program: WebGLProgram;
  readonly #array: WebGLVertexArrayObject;
  readonly #buffer: WebGLBuffer;
  readonly #places: Record<"middle" | "scale" | "size" | "tint", WebGLUniformLocation | null>;
  readonly floats: number;
  count = 0;

  constructor(gl: WebGL2RenderingContext, vertex: string, fragment: string, members: Members, instanced: boolean) {
    this.#gl = gl;
    this.#program = program(gl, vertex, fragment);
    this.#array = gl.createVertexArray();
    this.#buffer = gl.createBuffer();
    const at = (name: string) => gl.getUniformLocation(this.#program, name);
    this.#places = { middle: at("middle"), scale: at("scale"), size: at("size"), tint: at("tint") };
    this.floats = members.reduce((sum, [, count]) => sum + count, 0);
    gl.bindVertexArray(this.#array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#buffer);
    let offset = 0;
    for (const [name, count] of members) {
      const place = gl.getAttribLocation(this.#program, name);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, count, gl.FLOAT, false, this.floats * 4, offset);
      if (instanced) gl.vertexAttribDivisor(place, 1);
      offset += count * 4;
    }
    gl.bindVertexArray(null);
  }

  fill(values: Float32Array): void {
    this.count = values.length / this.floats;
    this.#gl.bindBuffer(this.#gl.ARRAY_BUFFER, this.#buffer);
    this.#gl.bufferData(this.#gl.ARRAY_BUFFER, values, this.#gl.STATIC_DRAW);
  }

  use(x: number, y: number, scale: number, size: Size, tint?: readonly [number, number, number, number]): boolean {
    if (this.count === 0) return false;
    const gl = this.#gl;
    gl.useProgram(this.#program);
    gl.bindVertexArray(this.#array);
    gl.uniform2f(this.#places.middle, x, y);
    gl.uniform1f(this.#places.scale, scale);
    gl.uniform2f(this.#places.size, size.width, size.height);
    if (tint) gl.uniform4f(this.#places.tint, ...tint);
    return true;
  }
}

export class Picture {
  readonly #gl: WebGL2RenderingContext;
  readonly #marks: Layer;
  readonly #lines: Layer;
  readonly #bands: Layer;
  readonly #lit: Layer;
  #origin = { x: 0, y: 0 };
  #line: readonly [number, number, number, number] = [0, 0, 0, 0];

  private constructor(gl: WebGL2RenderingContext) {
    this.#gl = gl;
    this.#marks = new Layer(gl, MARK_VERTEX, MARK_FRAGMENT, MARK_MEMBERS, true);
    this.#lines = new Layer(gl, LINE_VERTEX, LINE_FRAGMENT, LINE_MEMBERS, false);
    this.#bands = new Layer(gl, BAND_VERTEX, BAND_FRAGMENT, BAND_MEMBERS, true);
    this.#lit = new Layer(gl, BAND_VERTEX, BAND_FRAGMENT, BAND_MEMBERS, true);
    gl.enable(gl.BLEND);
    // The canvas is premultiplied: with one function for both, what is half clear is drawn too faint.
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** The picture on a canvas; undefined where the browser draws no WebGL2. */
  static on(canvas: HTMLCanvasElement): Picture | undefined {
    const gl = canvas.getContext("webgl2", { alpha: true, antialias: false, powerPreference: "low-power" });
    return gl ? new Picture(gl) : undefined;
  }

  /** Take a view in; `chosen` is a link that stands out, beside what is lit. */
  load(marks: readonly Mark[], links: readonly Link[], theme: Theme, lit: ReadonlySet<number>, chosen: Link | undefined): void {
    const [first] = marks;
    this.#origin = first ? { x: first.x, y: first.y } : { x: 0, y: 0 };
    const { x: ox, y: oy } = this.#origin;
    const dim = lit.size > 0;
    const discs = new Float32Array(marks.length * this.#marks.floats);
    marks.forEach((mark, index) => {
      const [red, green, blue] = lit.has(index) ? theme.lit : theme.palette[colourOf(mark.project, theme.palette.length)]!;
      const at = index * this.#marks.floats;
      discs[at] = mark.x - ox;
      discs[at + 1] = mark.y - oy;
      discs[at + 2] = mark.r;
      discs[at + 3] = red;
      discs[at + 4] = green;
      discs[at + 5] = blue;
      discs[at + 6] = dim && !lit.has(index) ? 0.3 : 0.95;
      discs[at + 7] = SHAPES[mark.kind];
    });
    this.#marks.fill(discs);
    const stands = (link: Link) => link === chosen || (lit.has(link.a) && lit.has(link.b));
    const inner = links.filter((link) => !link.cross && !stands(link));
    const lines = new Float32Array(inner.length * 4);
    inner.forEach((link, index) => {
      const [a, b] = [marks[link.a]!, marks[link.b]!];
      lines[index * 4] = a.x - ox;
      lines[index * 4 + 1] = a.y - oy;
      lines[index * 4 + 2] = b.x - ox;
      lines[index * 4 + 3] = b.y - oy;
    });
    this.#lines.fill(lines);
    this.#line = [...theme.inner, Math.max(0.06, Math.min(0.5, 8 / Math.sqrt(inner.length + 1))) * (dim ? 0.4 : 1)];
    this.#bands.fill(this.#banded(marks, links.filter((link) => link.cross && !stands(link)), theme.cross, dim ? 0.35 : 0.9));
    this.#lit.fill(this.#banded(marks, links.filter(stands), theme.lit, 1));
  }

  #banded(marks: readonly Mark[], links: readonly Link[], colour: Colour, alpha: number): Float32Array {
    const { x: ox, y: oy } = this.#origin;
    const floats = this.#bands.floats;
    const values = new Float32Array(links.length * floats);
    links.forEach((link, index) => {
      const [a, b] = [marks[link.a]!, marks[link.b]!];
      values.set([a.x - ox, a.y - oy, b.x - ox, b.y - oy, ...colour, alpha, Number(link.ambiguous)], index * floats);
    });
    return values;
  }

  draw(camera: Camera, size: Size, ratio: number): void {
    const gl = this.#gl;
    gl.viewport(0, 0, Math.round(size.width * ratio), Math.round(size.height * ratio));
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const [x, y] = [camera.x - this.#origin.x, camera.y - this.#origin.y];
    if (this.#lines.use(x, y, camera.scale, size, this.#line)) gl.drawArrays(gl.LINES, 0, this.#lines.count);
    if (this.#bands.use(x, y, camera.scale, size)) gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.#bands.count);
    if (this.#marks.use(x, y, camera.scale, size)) gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.#marks.count);
    if (this.#lit.use(x, y, camera.scale, size)) gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.#lit.count);
    gl.bindVertexArray(null);
  }
}
