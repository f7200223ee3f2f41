// What the server says without being asked: that the fleet changed. The page then asks again.

export type Listener = (generation: number) => void;

const listeners = new Set<Listener>();
let source: EventSource | undefined;

function open(): void {
  if (source || document.hidden || listeners.size === 0) return;
  source = new EventSource("/api/events");
  source.addEventListener("generation", (event) => {
    const generation = Number((event as MessageEvent<string>).data);
    for (const listener of listeners) listener(generation);
  });
}

function close(): void {
  source?.close();
  source = undefined;
}

document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));

/** Be told of each new generation while the page is visible; the result ends it. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  open();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) close();
  };
}
