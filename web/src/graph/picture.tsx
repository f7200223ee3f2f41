// The picture of a view: a canvas of marks and links, labels above it, and the keys that move it.

import { useEffect, useRef, useState } from "preact/hooks";
import { Picture as Drawn, type Colour, type Theme } from "./draw.ts";
import { hit, hitLink, isRegion, labelPlace, labelled, neighbour, zoomed, type Camera, type Link, type Mark, type Size } from "./view.ts";

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
    const [x, y] = labelPlace(mark, camera, size);
    pen.strokeText(mark.label, x, y);
    pen.fillText(mark.label, x, y);
  }
}

const REST_MILLISECONDS = 60;

export function Picture(properties: {
  marks: readonly Mark[];
  links: readonly Link[];
  camera: Camera;
  lit: ReadonlySet<number>;
  chosen: number;
  link: Link | undefined;
  summary: string;
  onCamera: (camera: Camera, size: Size) => void;
  onChoose: (at: number) => void;
  onLink: (link: Link | undefined) => void;
  onOpen: (at: number) => void;
}) {
  const { marks, links, lit, chosen } = properties;
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const labels = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<Drawn | undefined>(undefined);
  const dragged = useRef<{ x: number; y: number; moved: boolean } | undefined>(undefined);
  // The camera moves here, and the page is told of it once it rests: a drag asks and renders nothing.
  const moving = useRef(properties.camera);
  const told = useRef(properties.camera);
  const written = useRef<Camera | undefined>(undefined);
  const pending = useRef(0);
  const resting = useRef(0);
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
      cancelAnimationFrame(pending.current);
      clearTimeout(resting.current);
    };
  }, []);

  useEffect(() => {
    if (size.width > 0) properties.onCamera(moving.current, size);
  }, [size.width, size.height]);

  // A camera of somebody else's is taken over; the one that was told from here is not.
  if (properties.camera !== told.current) {
    told.current = properties.camera;
    moving.current = properties.camera;
  }

  const always = new Set(chosen >= 0 ? [chosen, ...lit] : lit);
  const paint = (quick: boolean) => {
    if (!drawn.current || size.width === 0) return;
    const ratio = Math.min(2, devicePixelRatio || 1);
    for (const one of [canvas.current!, labels.current!]) {
      const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
      if (one.width !== width) one.width = width;
      if (one.height !== height) one.height = height;
    }
    const camera = moving.current;
    drawn.current.draw(camera, size, ratio);
    const last = written.current;
    if (quick && last && last.scale === camera.scale) {
      // Labels move with the picture, and are written anew once it rests.
      labels.current!.style.transform = `translate(${(last.x - camera.x) * camera.scale}px, ${(last.y - camera.y) * camera.scale}px)`;
      return;
    }
    labels.current!.style.transform = "";
    writeLabels(labels.current!, marks, camera, size, ratio, always);
    written.current = camera;
  };
  useEffect(() => {
    drawn.current?.load(marks, links, theme(), lit, properties.link);
  }, [marks, links, lit, dark, able, properties.link]);
  useEffect(() => {
    const request = requestAnimationFrame(() => paint(false));
    return () => cancelAnimationFrame(request);
  }, [marks, links, properties.camera, lit, chosen, size, dark, properties.link]);

  const move = (next: Camera) => {
    moving.current = next;
    cancelAnimationFrame(pending.current);
    pending.current = requestAnimationFrame(() => paint(true));
    clearTimeout(resting.current);
    resting.current = setTimeout(() => {
      told.current = next;
      properties.onCamera(next, size);
    }, REST_MILLISECONDS);
  };
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
    const camera = moving.current;
    move({ ...camera, x: camera.x - dx / camera.scale, y: camera.y - dy / camera.scale });
  };
  const onPointerUp = (event: PointerEvent) => {
    const last = dragged.current;
    dragged.current = undefined;
    if (!last || last.moved) return;
    const [x, y] = place(event);
    const camera = moving.current;
    const mark = hit(marks, camera, size, x, y);
    const solid = mark >= 0 && !isRegion(marks[mark]!, camera.scale);
    const link = solid ? -1 : hitLink(links, marks, camera, size, x, y);
    properties.onLink(links[link]);
    properties.onChoose(link >= 0 ? -1 : mark);
  };
  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const [x, y] = place(event);
    move(zoomed(moving.current, size, event.deltaY < 0 ? ZOOM : 1 / ZOOM, x, y));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const arrows: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const arrow = arrows[event.key];
    const [x, y] = [size.width / 2, size.height / 2];
    const camera = moving.current;
    if (arrow && event.shiftKey) move({ ...camera, x: camera.x + (arrow[0] * PAN_PIXELS) / camera.scale, y: camera.y + (arrow[1] * PAN_PIXELS) / camera.scale });
    else if (arrow) properties.onChoose(neighbour(marks, chosen, arrow[0], arrow[1]));
    else if (event.key === "+" || event.key === "=") move(zoomed(camera, size, ZOOM, x, y));
    else if (event.key === "-") move(zoomed(camera, size, 1 / ZOOM, x, y));
    else if (event.key === "Enter" && chosen >= 0) properties.onOpen(chosen);
    else if (event.key === "Escape") {
      properties.onChoose(-1);
      properties.onLink(undefined);
    }
    else return;
    event.preventDefault();
  };
  return (
    <div
      ref={frame}
      class={`picture${able ? "" : " unable"}`}
      tabIndex={0}
      role="application"
      aria-label={`Picture of the graph: ${properties.summary}. Arrow keys choose a mark, with shift they move the view, plus and minus zoom, Enter opens, a click on a link shows its evidence. The table below says the same.`}
      onPointerDown={(event) => {
        dragged.current = { x: event.clientX, y: event.clientY, moved: false };
        frame.current!.setPointerCapture(event.pointerId);
      }}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onDblClick={(event) => {
        const [x, y] = place(event);
        move(zoomed(moving.current, size, ZOOM * ZOOM, x, y));
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
