import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FindData, GraphEdgeView, GraphNodeView, GraphPlace, ImpactData, NeighborsData, PathData } from "../generated/documents.ts";
import { count, number } from "../format.ts";
import { Picture } from "../graph/picture.tsx";
import { askedBox, fitted, type Box, type Camera, type Link, type Mark, type Size } from "../graph/view.ts";
import { Badge, Choice, Field, Frame, Shown, Table, fileAddress, projectAddress } from "../parts.tsx";
import { useAnswer, useParameter, useRested } from "../state.ts";
import { worthAsking } from "../words.ts";

/** What one view of the layout holds (`agentic-os/graph-view/v1`). */
export interface ViewData {
  extent: Box;
  totals: { projects: number; files: number; nodes: number };
  left_out: { marks: number; links: number };
  projects: string[];
  marks: [id: string, x: number, y: number, r: number, project: number, kind: number, label: string, nodes: number][];
  links: [a: number, b: number, weight: number, flags: number][];
  lit: number[];
}

const KINDS = ["project", "file", "symbol", "community"] as const;
const CROSS = 1;
const AMBIGUOUS = 2;

interface View {
  marks: Mark[];
  links: Link[];
}

function viewOf(data: ViewData): View {
  return {
    marks: data.marks.map(([id, x, y, r, project, kind, label, nodes]) => ({ id, x, y, r, project: data.projects[project] ?? "", kind: KINDS[kind] ?? "symbol", label, nodes })),
    links: data.links.map(([a, b, weight, flags]) => ({ a, b, weight, cross: (flags & CROSS) !== 0, ambiguous: (flags & AMBIGUOUS) !== 0 })),
  };
}

const EMPTY: View = { marks: [], links: [] };
export function Graph() {
  const [name, setName] = useParameter("name");
  const [project, setProject] = useParameter("project");
  const [what, setWhat] = useParameter("show", "neighbors");
  const [target, setTarget] = useParameter("to");
  const [between, setBetween] = useParameter("between");
  const [camera, setCamera] = useState<Camera | undefined>(undefined);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [chosen, setChosen] = useState(-1);
  const [link, setLink] = useState<Link | undefined>(undefined);
  const [ends, setEnds] = useState<readonly [Mark, Mark] | undefined>(undefined);
  const placed = useRef(false);
  const [nodes, setNodes] = useState<readonly string[]>([]);
  const box = camera && askedBox(camera, size);
  const rounded = (value: number) => Number(value.toPrecision(6));
  const asked = useAnswer<ViewData>("graph-view", size.width === 0 ? undefined : {
    ...(box ? { x0: rounded(box.x0), y0: rounded(box.y0), x1: rounded(box.x1), y1: rounded(box.y1) } : {}),
    px: Math.round(size.width),
    between: between || undefined,
    lit: nodes,
  });
  const data = asked.answer?.data;
  const view = useMemo(() => (data ? viewOf(data) : EMPTY), [data]);
  const lit = useMemo(() => new Set(data?.lit ?? []), [data]);
  useEffect(() => {
    if (!data || placed.current || data.totals.projects === 0) return;
    placed.current = true;
    const home = view.marks.find((mark) => mark.kind === "project" && mark.id === project);
    setCamera(fitted(home ? { x0: home.x - home.r, y0: home.y - home.r, x1: home.x + home.r, y1: home.y + home.r } : data.extent, size));
  }, [data]);
  useEffect(() => {
    setChosen(-1);
    setLink(undefined);
  }, [data]);
  const choose = (next: Link | undefined) => {
    setLink(next);
    setEnds(next ? [view.marks[next.a]!, view.marks[next.b]!] : undefined);
  };
  const summary = data?.totals.projects === 0
    ? "no project has a code graph yet"
    : data
    ? `${describe(view.marks)}, ${count(view.links.length, "link")}${data.left_out.marks ? `; ${count(data.left_out.marks, "mark")} and ${count(data.left_out.links, "link")} left out for room` : ""}`
    : "";
  const open = (mark: Mark | undefined) => {
    if (!mark) return;
    if (mark.kind === "symbol") setName(mark.id);
    else setCamera(fitted({ x0: mark.x - mark.r, y0: mark.y - mark.r, x1: mark.x + mark.r, y1: mark.y + mark.r }, size));
  };
  const command = what === "path" && target ? `agentic-os graph path '${name}' '${target}'` : name ? `agentic-os graph ${what} '${name}'` : "agentic-os graph stats";
  return (
    <Frame title="Graph" command={command}>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <Field label="Name" wide value={name} onText={setName} placeholder="a function, a class, a file" />
        <Choice label="Light up" value={what} onChoice={setWhat} options={[["neighbors", "its neighbours"], ["impact", "what depends on it"], ["path", "the path to …"]]} />
        {what === "path" && <Field label="To" value={target} onText={setTarget} placeholder="another name" />}
        <Choice label="Links" value={between} onChoice={setBetween} options={[["", "all"], ["1", "only between repositories"]]} />
        {data && <button type="button" onClick={() => setCamera(fitted(data.extent, size))}>Whole graph</button>}
      </form>
      <Picture
        marks={view.marks}
        links={view.links}
        camera={camera ?? { x: 0, y: 0, scale: 1 }}
        lit={lit}
        chosen={chosen}
        link={link}
        summary={summary}
        onCamera={(next, now) => {
          setSize(now);
          if (placed.current) setCamera(next);
        }}
        onChoose={setChosen}
        onLink={choose}
        onOpen={(at) => open(view.marks[at])}
      />
      <p role="status" aria-live="polite">
        {summary}
        {chosen >= 0 && view.marks[chosen] && <> · <strong>{view.marks[chosen].label}</strong> ({view.marks[chosen].kind} of {view.marks[chosen].project}) <button type="button" onClick={() => open(view.marks[chosen])}>Open</button></>}
      </p>
      {ends && <LinkEvidence ends={ends} onClose={() => choose(undefined)} />}
      <Answered name={name} what={what} target={target} project={project} onNodes={setNodes} onName={setName} onTarget={setTarget} />
      <section>
        <h2>The same view as a table</h2>
        <Shown asked={asked}>{() => <ViewTable view={view} onOpen={open} onLink={choose} />}</Shown>
      </section>
      {project && <p>Opened at <a href={projectAddress(project)}>{project}</a>. <button type="button" onClick={() => { setProject(""); placed.current = false; }}>Show all</button></p>}
    </Frame>
  );
}

function describe(marks: readonly Mark[]): string {
  const words: Record<Mark["kind"], [string, string]> = { project: ["project", "projects"], community: ["community", "communities"], file: ["file", "files"], symbol: ["symbol", "symbols"] };
  const parts = KINDS.map((kind) => [kind, marks.filter((mark) => mark.kind === kind).length] as const).filter(([, found]) => found > 0);
  return parts.map(([kind, found]) => count(found, ...words[kind])).join(", ") || "nothing";
}

/** What one link of the picture stands for: its edges, each with the lines where it is seen. */
function LinkEvidence(properties: { ends: readonly [Mark, Mark]; onClose: () => void }) {
  const [one, other] = properties.ends;
  const shown = useRef<HTMLElement>(null);
  useEffect(() => {
    // Who came by the table is taken to the answer; who clicked in the picture stays there.
    if (!document.activeElement?.closest(".picture")) shown.current?.focus();
  }, [one, other]);
  const asked = useAnswer<EvidenceData>("graph-evidence", { a: one.id, a_kind: one.kind, b: other.id, b_kind: other.kind });
  return (
    <section class="evidence" aria-live="polite" tabIndex={-1} ref={shown}>
      <h2>Between {one.label} and {other.label}</h2>
      <Shown asked={asked}>
        {(data) => (
          <>
            <p>{count(data.total, "pair")} of nodes, {count(data.edges.length, "edge")} shown, each with where it is seen</p>
            <Edges data={data} />
          </>
        )}
      </Shown>
      <p><button type="button" onClick={properties.onClose}>Close</button></p>
    </section>
  );
}

function ViewTable(properties: { view: View; onOpen: (mark: Mark) => void; onLink: (link: Link) => void }) {
  const { marks, links } = properties.view;
  const degree = useMemo(() => {
    const found = new Map<number, number>();
    for (const link of links) for (const end of [link.a, link.b]) found.set(end, (found.get(end) ?? 0) + link.weight);
    return found;
  }, [links]);
  const rows = useMemo(() => marks.map((mark, at) => ({ mark, links: degree.get(at) ?? 0 })), [marks, degree]);
  return (
    <>
      <Table
        caption="Marks of the view"
        rows={rows}
        id={(row) => `${row.mark.kind} ${row.mark.id}`}
        sorted="Nodes"
        columns={[
          { name: "Mark", cell: (row) => <button type="button" class="link" onClick={() => properties.onOpen(row.mark)}>{row.mark.label}</button>, order: (row) => row.mark.label },
          { name: "Kind", cell: (row) => row.mark.kind, order: (row) => row.mark.kind },
          { name: "Project", cell: (row) => <a href={projectAddress(row.mark.project)}>{row.mark.project}</a>, order: (row) => row.mark.project },
          { name: "Nodes", numeric: true, cell: (row) => number(row.mark.nodes), order: (row) => -row.mark.nodes },
          { name: "Links", numeric: true, cell: (row) => number(row.links), order: (row) => -row.links },
        ]}
      />
      {links.length > 0 && (
        <>
          <h3>Links of the view</h3>
          <Table
            caption="Links of the view, those between projects first"
            rows={links}
            id={(link) => `${link.a} ${link.b}`}
            columns={[
              { name: "From", cell: (link) => marks[link.a]?.label, order: (link) => marks[link.a]?.label ?? "" },
              { name: "To", cell: (link) => marks[link.b]?.label, order: (link) => marks[link.b]?.label ?? "" },
              { name: "Edges", numeric: true, cell: (link) => number(link.weight), order: (link) => -link.weight },
              { name: "Between", cell: (link) => (link.cross ? "projects" : "parts of one"), order: (link) => (link.cross ? 0 : 1) },
              { name: "Certain", cell: (link) => (link.ambiguous ? "no" : "yes"), order: (link) => String(link.ambiguous) },
              { name: "Evidence", cell: (link) => <button type="button" class="link" onClick={() => properties.onLink(link)}>Show</button> },
            ]}
          />
        </>
      )}
    </>
  );
}

interface EvidenceData {
  total: number;
  nodes: GraphNodeView[];
  edges: GraphEdgeView[];
}

type Walked = NeighborsData | ImpactData | PathData;

/** The answer to the question about a name: its nodes lit in the picture, its edges with evidence. */
function Answered(properties: {
  name: string;
  what: string;
  target: string;
  project: string;
  onNodes: (nodes: readonly string[]) => void;
  onName: (name: string) => void;
  onTarget: (name: string) => void;
}) {
  const name = useRested(properties.name, 150);
  const target = useRested(properties.target, 150);
  const { what } = properties;
  const ready = worthAsking(name) && (what !== "path" || worthAsking(target));
  const find = useAnswer<FindData>("graph-find", worthAsking(name) && !ready ? { name, limit: 20 } : undefined);
  const asked = useAnswer<Walked>(`graph-${what}`, ready ? { name, ...(what === "path" ? { to: target } : {}), limit: 100 } : undefined);
  const data = asked.answer?.data;
  useEffect(() => {
    const start = data && "start" in data && data.start ? [data.start.id] : [];
    properties.onNodes(data ? [...start, ...data.nodes.map((node) => node.id)].slice(0, 200) : []);
  }, [data]);
  if (!worthAsking(name)) return null;
  if (!ready) return <Shown asked={find}>{(found) => <Nodes nodes={found.nodes} onName={properties.onName} />}</Shown>;
  return (
    <section>
      <h2>{what === "path" ? `From ${name} to ${target}` : what === "impact" ? `What depends on ${name}` : `Around ${name}`}</h2>
      <Shown asked={asked}>
        {(found) => found.outcome === "found" ? (
          <>
            <p>{count(found.nodes.length, "node")}, {count(found.edges.length, "edge")}{"hops" in found && `, ${count(found.hops, "hop")}`}{"truncated" in found && found.truncated && "; there are more"}</p>
            <Edges data={found} />
          </>
        ) : found.outcome === "ambiguous" ? (
          <>
            <p>Several nodes are called that. Which one?</p>
            <Nodes nodes={found.candidates} onName={"unsettled" in found && found.unsettled === "target" ? properties.onTarget : properties.onName} />
          </>
        ) : (
          <p class="empty">{found.outcome === "no-path" ? "No path leads there." : found.outcome === "unknown" ? "No node is called that." : "The search gave up at its bound."}</p>
        )}
      </Shown>
    </section>
  );
}

function Nodes(properties: { nodes: readonly GraphNodeView[]; onName: (name: string) => void }) {
  return (
    <ul class="plain">
      {properties.nodes.map((node) => (
        <li>
          <button type="button" class="link" onClick={() => properties.onName(node.id)}>{node.label}</button> <Badge>{node.kind}</Badge>{" "}
          {node.project} {node.place && <Place place={node.place} />}
        </li>
      ))}
    </ul>
  );
}

function Place(properties: { place: GraphPlace }) {
  const { project, path, line, holds } = properties.place;
  return (
    <>
      <a class="path" href={fileAddress(project, path, line ?? 1)}>{path}{line !== null && `:${line}`}</a>
      {holds === false && <Badge kind="odd" title="The file changed since the graph was built">changed since</Badge>}
    </>
  );
}

function Edges(properties: { data: Walked | EvidenceData }) {
  const { data } = properties;
  const labels = new Map(data.nodes.map((node) => [node.id, node]));
  if ("start" in data && data.start) labels.set(data.start.id, data.start);
  const label = (id: string) => labels.get(id)?.label ?? id;
  return (
    <Table<GraphEdgeView>
      caption="Edges and their evidence"
      rows={data.edges}
      id={(edge) => `${edge.source} ${edge.target} ${edge.relation} ${edge.rule} ${edge.evidence[0]?.line}`}
      columns={[
        { name: "From", cell: (edge) => label(edge.source), order: (edge) => label(edge.source) },
        { name: "Relation", cell: (edge) => <>{edge.relation} {edge.rule && <Badge title="Rule that links two repositories">{edge.rule}</Badge>}</>, order: (edge) => edge.relation },
        { name: "To", cell: (edge) => label(edge.target), order: (edge) => label(edge.target) },
        { name: "Certain", cell: (edge) => <Badge kind={edge.confidence === "AMBIGUOUS" ? "odd" : ""}>{edge.confidence.toLowerCase()}</Badge>, order: (edge) => edge.confidence },
        { name: "Evidence", cell: (edge) => <ul class="plain">{edge.evidence.map((place) => <li><Place place={place} /></li>)}</ul> },
      ]}
    />
  );
}
