import type { Diagnostic, ProjectView, ScanData, Surface } from "../generated/documents.ts";
import type { ChangesData } from "../changes.ts";
import { count, moment } from "../format.ts";
import { Badge, Choice, Field, Frame, Shown, Table, projectAddress, type Column } from "../parts.tsx";
import { useAnswer, useParameter } from "../state.ts";

const SURFACES = ["memory", "vault", "graph", "rag"] as const;
const WORST: Record<Diagnostic["severity"], number> = { info: 0, warning: 1, error: 2 };

/** How much a project asks for: 2 where something could not be read, 1 where something is odd. */
export const attention = (project: ProjectView): number =>
  Math.max(0, ...project.diagnostics.map((item) => WORST[item.severity]));

export function Surfaces(properties: { project: ProjectView }) {
  const present = SURFACES.map((name) => [name, properties.project.surfaces[name]] as const)
    .filter((pair): pair is readonly [(typeof SURFACES)[number], Surface] => pair[1] !== null);
  if (present.length === 0) return <span class="muted">none</span>;
  return (
    <>
      {present.map(([name, surface]) => (
        <Badge kind={surface.state === "present" ? "good" : "odd"} title={`${surface.path}: ${surface.state}`}>
          {surface.state === "present" ? name : `${name}: ${surface.state}`}
        </Badge>
      ))}
    </>
  );
}

/** A project's diagnostics, each with what to do about it. */
export function Diagnostics(properties: { items: readonly Diagnostic[] }) {
  if (properties.items.length === 0) return <span class="muted">nothing</span>;
  return (
    <details>
      <summary>{count(properties.items.length, "note")}</summary>
      <ul class="plain">
        {properties.items.map((item) => (
          <li>
            <Badge kind={item.severity}>{item.severity}</Badge> <code>{item.code}</code> {item.message}{" "}
            {item.hint && <em>{item.hint}</em>}
          </li>
        ))}
      </ul>
    </details>
  );
}

const columns = (newest: Record<string, string>): readonly Column<ProjectView>[] => [
  {
    name: "Project",
    order: (project) => project.name.toLowerCase(),
    cell: (project) => (
      <>
        <a href={projectAddress(project.id)}>{project.name}</a> <span class="muted id">{project.id}</span>{" "}
        {!project.described && <Badge title={project.found.join(", ")}>{project.bare ? "bare" : "no descriptor"}</Badge>}
        {project.description && <div class="muted">{project.description}</div>}
      </>
    ),
  },
  {
    name: "Tier",
    numeric: true,
    order: (project) => project.tier ?? -1,
    cell: (project) => (project.tier === null ? "none" : String(project.tier)),
  },
  { name: "Surfaces", cell: (project) => <Surfaces project={project} /> },
  {
    name: "Branch",
    order: (project) => project.branch ?? "",
    cell: (project) => (
      <>
        {project.branch ?? <span class="muted">none</span>}
        {project.checkouts.length > 1 && <div class="muted">{count(project.checkouts.length, "checkout")}</div>}
      </>
    ),
  },
  {
    name: "Changed",
    order: (project) => newest[project.id] ?? "",
    cell: (project) => (newest[project.id] ? moment(newest[project.id]!) : <span class="muted">nothing taken in</span>),
  },
  { name: "Folder", order: (project) => project.path, cell: (project) => <span class="path">{project.path}</span> },
  {
    name: "Attention",
    order: (project) => -attention(project),
    cell: (project) => <Diagnostics items={project.diagnostics} />,
  },
];

type Grouping = "none" | "tier" | "root";

function groups(projects: readonly ProjectView[], by: Grouping): [string, ProjectView[]][] {
  if (by === "none") return [["", [...projects]]];
  const made = new Map<string, ProjectView[]>();
  for (const project of projects) {
    const key = by === "tier" ? `Tier ${project.tier ?? "none"}` : project.root;
    made.set(key, [...(made.get(key) ?? []), project]);
  }
  return [...made].sort(([one], [other]) => one.localeCompare(other));
}

export function Fleet() {
  const [filter, setFilter] = useParameter("filter");
  const [tier, setTier] = useParameter("tier");
  const [need, setNeed] = useParameter("attention");
  const [group, setGroup] = useParameter("group", "none");
  const asked = useAnswer<ScanData>("scan", {});
  const changed = useAnswer<ChangesData>("changes", { limit: 1 });
  const shownColumns = columns(changed.answer?.data.newest ?? {});
  const wanted = filter.toLowerCase();
  return (
    <Frame title="Fleet" command="agentic-os scan">
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <Field label="Filter" value={filter} onText={setFilter} placeholder="name, folder or branch" />
        <Choice label="Tier" value={tier} onChoice={setTier} options={[["", "all"], ["0", "0"], ["1", "1"], ["2", "2"], ["3", "3"], ["-", "none"]]} />
        <Choice label="Show" value={need} onChoice={setNeed} options={[["", "all projects"], ["1", "what needs attention"]]} />
        <Choice label="Group" value={group} onChoice={setGroup} options={[["none", "not at all"], ["tier", "by tier"], ["root", "by root"]]} />
      </form>
      <Shown asked={asked}>
        {(data) => {
          const shown = data.projects.filter((project) =>
            (!tier || String(project.tier ?? "-") === tier)
            && (!need || attention(project) > 0)
            && [project.name, project.id, project.path, project.branch ?? ""].some((text) => text.toLowerCase().includes(wanted)));
          return (
            <>
              <p role="status">
                {count(shown.length, "project")}{shown.length < data.projects.length && ` of ${data.projects.length}`}
                {" below "}{count(data.roots.length, "root")}
              </p>
              {shown.length === 0 && data.projects.length === 0 && (
                <p class="empty">No project was found. <code>agentic-os roots add DIR</code> adds a folder.</p>
              )}
              {groups(shown, group as Grouping).map(([name, projects]) => (
                <section>
                  {name && <h2>{name}</h2>}
                  <Table caption={name ? `Projects: ${name}` : "Projects"} columns={shownColumns} rows={projects} id={(project) => project.id} sorted="Attention" />
                </section>
              ))}
            </>
          );
        }}
      </Shown>
    </Frame>
  );
}
