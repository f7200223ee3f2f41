// The picture of a view: a canvas of marks and links, labels above it, and the keys that move it.

import { useEffect, useRef, useState } from "preact/hooks";
import { Picture as Drawn, type Colour, type Theme } from "./draw.ts";
import { hit, labelled, neighbour, toScreen, zoomed, type Camera, type Link, type Mark, type Size } from "./view.ts";

const PALETTE = 8;
const PAN_PIXELS = 80;
const ZOOM = 1.4;

function colour(name: string): Colour {
  const value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const digits = value.replace("#", "");
  const parts = [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16) / 255);
  return [parts[0] ?? 0, parts[1] ?? 0, parts[2] ?? 0];
}

function theme(): Theme {
  return {
    palette: Array.from({ length: PALETTE }, (_, at) => colour(`--fill${at}`)),
    inner: colour("--inner"),
    cross: colour("--cross"),
    lit: colour("--lit"),
  };
}

function writeLabels(canvas: HTMLCanvasElement, marks: readonly Mark[], camera: Camera, size: Size, ratio: number, always: ReadonlySet<number>): void {
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, size.width, size.height);
  const style = getComputedStyle(document.documentElement);
  pen.font = "12px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.lineWidth = 3;
  pen.strokeStyle = style.getPropertyValue("--page");
  pen.fillStyle = style.getPropertyValue("--text");
  for (const at of labelled(marks, camera, size, always)) {
    const mark = marks[at]!;
    const [x, y] = toScreen(camera, size, mark.x, mark.y);
    pen.strokeText(mark.label, x, y + 4);
    pen.fillText(mark.label, x, y + 4);
  }
}

export function Picture(properties: {
  marks: readonly Mark[];
  links: readonly Link[];
  camera: Camera;
  lit: ReadonlySet<number>;
  chosen: number;
  summary: string;
  onCamera: (camera: Camera, size: Size) => void;
  onChoose: (at: number) => void;
  onOpen: (at: number) => void;
}) {
  const { marks, links, camera, lit, chosen } = properties;
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const labels = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<Drawn | undefined>(undefined);
  const dragged = useRef<{ x: number; y: number; moved: boolean } | undefined>(undefined);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [able, setAble] = useState(true);
  const [dark, setDark] = useState(0);

  useEffect(() => {
    const box = frame.current!;
    const watch = new ResizeObserver(() => setSize({ width: box.clientWidth, height: box.clientHeight }));
    watch.observe(box);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const changed = () => setDark((count) => count + 1);
    scheme.addEventListener("change", changed);
    const lost = (event: Event) => {
      event.preventDefault();
      setAble(false);
    };
    canvas.current!.addEventListener("webglcontextlost", lost);
    try {
      drawn.current = Drawn.on(canvas.current!);
    } catch {
      drawn.current = undefined;
    }
    setAble(drawn.current !== undefined);
    return () => {
      watch.disconnect();
      scheme.removeEventListener("change", changed);
    };
  }, []);

  useEffect(() => {
    if (size.width > 0) properties.onCamera(camera, size);
  }, [size.width, size.height]);

  useEffect(() => {
    if (!drawn.current || size.width === 0) return undefined;
    const request = requestAnimationFrame(() => {
      const ratio = Math.min(2, devicePixelRatio || 1);
      for (const one of [canvas.current!, labels.current!]) {
        const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
        if (one.width !== width) one.width = width;
        if (one.height !== height) one.height = height;
      }
      drawn.current!.draw(marks, links, camera, size, ratio, theme(), lit);
      writeLabels(labels.current!, marks, camera, size, ratio, new Set(chosen >= 0 ? [chosen, ...lit] : lit));
    });
    return () => cancelAnimationFrame(request);
  }, [marks, links, camera, lit, chosen, size, dark]);

  const move = (next: Camera) => properties.onCamera(next, size);
  const place = (event: MouseEvent): [number, number] => {
    const box = frame.current!.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const onPointerMove = (event: PointerEvent) => {
    const last = dragged.current;
    if (!last) return;
    const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
    if (!last.moved && Math.hypot(dx, dy) < 4) return;
    dragged.current = { x: event.clientX, y: event.clientY, moved: true };
    move({ ...camera, x: camera.x - dx / camera.scale, y: camera.y - dy / camera.scale });
  };
  const onPointerUp = (event: PointerEvent) => {
    const last = dragged.current;
    dragged.current = undefined;
    if (!last || last.moved) return;
    const [x, y] = place(event);
    properties.onChoose(hit(marks, camera, size, x, y));
  };
  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const [x, y] = place(event);
    move(zoomed(camera, size, event.deltaY < 0 ? ZOOM : 1 / ZOOM, x, y));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const arrows: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const arrow = arrows[event.key];
    const [x, y] = [size.width / 2, size.height / 2];
    if (arrow && event.shiftKey) move({ ...camera, x: camera.x + (arrow[0] * PAN_PIXELS) / camera.scale, y: camera.y + (arrow[1] * PAN_PIXELS) / camera.scale });
    else if (arrow) properties.onChoose(neighbour(marks, chosen, arrow[0], arrow[1]));
    else if (event.key === "+" || event.key === "=") move(zoomed(camera, size, ZOOM, x, y));
    else if (event.key === "-") move(zoomed(camera, size, 1 / ZOOM, x, y));
    else if (event.key === "Enter" && chosen >= 0) properties.onOpen(chosen);
    else if (event.key === "Escape") properties.onChoose(-1);
    else return;
    event.preventDefault();
  };
  return (
    <div
      ref={frame}
      class={`picture${able ? "" : " unable"}`}
      tabIndex={0}
      role="application"
      aria-label={`Picture of the graph: ${properties.summary}. Arrow keys choose a mark, with shift they move the view, plus and minus zoom, Enter opens. The table below says the same.`}
      onPointerDown={(event) => {
        dragged.current = { x: event.clientX, y: event.clientY, moved: false };
        frame.current!.setPointerCapture(event.pointerId);
      }}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onDblClick={(event) => {
        const [x, y] = place(event);
        move(zoomed(camera, size, ZOOM * ZOOM, x, y));
      }}
      onWheel={onWheel}
      onKeyDown={onKeyDown}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <canvas ref={labels} aria-hidden="true" />
      {!able && <p class="note warning">This browser draws no WebGL2; the table below shows the same view.</p>}
    </div>
  );
}
