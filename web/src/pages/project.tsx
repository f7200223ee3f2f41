import type { CapabilitiesData, InstructionFile, InstructionsData, LinksData, MemoryData, ScanData, VaultData } from "../generated/documents.ts";
import type { ChangesData } from "../changes.ts";
import { count, moment, short } from "../format.ts";
import { Badge, Field, Frame, Shown, Table, fileAddress, projectAddress } from "../parts.tsx";
import { useAnswer, useParameter, useRested } from "../state.ts";
import { Diagnostics, Surfaces } from "./fleet.tsx";

export function Project() {
  const [id] = useParameter("id");
  const scan = useAnswer<ScanData>("scan", {});
  const view = scan.answer?.data.projects.find((project) => project.id === id);
  return (
    <Frame title={view?.name ?? "Project"} command={`agentic-os search QUERY --project ${id}`}>
      <Shown asked={scan}>
        {() => view ? (
          <dl class="facts">
            <dt>Id</dt><dd><code>{view.id}</code></dd>
            {view.description && <><dt>What it is</dt><dd>{view.description}</dd></>}
            <dt>Folder</dt><dd class="path">{view.path}</dd>
            <dt>Tier</dt>
            <dd>{view.tier ?? "none"}{view.stack && <span class="muted"> from the stack {view.stack}</span>}</dd>
            <dt>Surfaces</dt><dd><Surfaces project={view} /></dd>
            {!view.described && <><dt>Taken in</dt><dd>without a descriptor{view.bare ? ", code and documents alone" : `: ${view.found.join(", ")}`}</dd></>}
            <dt>Branch</dt><dd>{view.branch ?? "none"} {view.commit && <code>{short(view.commit)}</code>}</dd>
            {view.checkouts.length > 1 && (
              <>
                <dt>Checkouts</dt>
                <dd>
                  <ul class="plain">
                    {view.checkouts.map((one) => (
                      <li>
                        <Badge kind={one.chosen ? "good" : ""}>{one.chosen ? `${one.kind}, speaks` : one.kind}</Badge>{" "}
                        <span class="path">{one.path}</span> {one.branch}
                      </li>
                    ))}
                  </ul>
                </dd>
              </>
            )}
            <dt>Attention</dt><dd><Diagnostics items={view.diagnostics} /></dd>
          </dl>
        ) : <p class="empty">No project has the id <code>{id}</code>. <a href="/">The fleet</a> lists all.</p>}
      </Shown>
      {view && <><Memory id={id} /><Instructions id={id} /><Vault id={id} /><Capabilities id={id} /><Links id={id} /><Changes id={id} /></>}
    </Frame>
  );
}

function Memory(properties: { id: string }) {
  const asked = useAnswer<MemoryData>("memory", { project: [properties.id] });
  return (
    <section>
      <h2>Memory</h2>
      <Shown asked={asked}>
        {(data) => data.facts.length === 0 ? <p class="empty">It remembers nothing.</p> : (
          <ul class="cards">
            {data.facts.filter((fact) => !fact.template).map((fact) => (
              <li>
                <h3><a href={fileAddress(properties.id, fact.provenance.path, fact.provenance.lines[0])}>{fact.title}</a></h3>
                {fact.type && <Badge>{fact.type}</Badge>}
                {fact.equal_in.length > 0 && <Badge kind="odd">also in {fact.equal_in.join(", ")}</Badge>}
                <p>{fact.description}</p>
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </section>
  );
}

const LOADED: Record<InstructionFile["activation"], string> = {
  always: "always",
  paths: "for some files",
  asked: "when the agent asks",
  manual: "when the person says so",
};

/** What agents are told here, file by file, and the order for one path. */
function Instructions(properties: { id: string }) {
  const [target, setTarget] = useParameter("target");
  const asked = useAnswer<InstructionsData>("instructions", { project: [properties.id], target: useRested(target, 150) });
  return (
    <section>
      <h2>Instructions</h2>
      <Shown asked={asked}>
        {(data) => data.files.length === 0 ? <p class="empty">No file tells agents how to work here.</p> : (
          <>
            <Table<InstructionFile>
              caption="Instruction files"
              rows={data.files}
              id={(file) => `${file.path} ${file.harness}`}
              columns={[
                { name: "File", cell: (file) => <a class="path" href={fileAddress(properties.id, file.path, 1)}>{file.path}</a>, order: (file) => file.path },
                { name: "Harness", cell: (file) => file.harness, order: (file) => file.harness },
                { name: "For", cell: (file) => file.patterns.join(" ") || (file.folder ? `${file.folder}/` : "all files") },
                { name: "Loaded", cell: (file) => LOADED[file.activation], order: (file) => file.activation },
                { name: "Lines", numeric: true, cell: (file) => String(file.lines), order: (file) => file.lines },
                { name: "Same text", cell: (file) => file.same_as.join(", ") },
              ]}
            />
            <form class="filters" onSubmit={(event) => event.preventDefault()}>
              <Field label="In force for" value={target} onText={setTarget} placeholder="a path, src/app.py say" />
            </form>
            {data.harnesses.map((one) => (
              <p><Badge>{one.harness}</Badge> {one.files.join(" → ") || "nothing"}{one.cut.length > 0 && ` (not read whole: ${one.cut.join(", ")})`}</p>
            ))}
          </>
        )}
      </Shown>
    </section>
  );
}

function Vault(properties: { id: string }) {
  const asked = useAnswer<VaultData>("vault", { project: [properties.id] });
  return (
    <section>
      <h2>Vault</h2>
      <Shown asked={asked}>
        {(data) => data.notes.length === 0 ? <p class="empty">It has no notes.</p> : (
          <ul class="columns">
            {data.notes.map((note) => (
              <li><a href={fileAddress(properties.id, note.provenance.path, 1)}>{note.title}</a> <span class="muted">{note.tags.map((tag) => `#${tag}`).join(" ")}</span></li>
            ))}
          </ul>
        )}
      </Shown>
    </section>
  );
}

function Capabilities(properties: { id: string }) {
  const asked = useAnswer<CapabilitiesData>("capabilities", { project: [properties.id] });
  return (
    <section>
      <h2>Capabilities</h2>
      <Shown asked={asked}>
        {(data) => data.capabilities.length === 0 ? <p class="empty">It declares none.</p> : (
          <ul class="columns">
            {data.capabilities.map((item) => <li><Badge>{item.section}</Badge> {item.name}</li>)}
          </ul>
        )}
      </Shown>
    </section>
  );
}

function Changes(properties: { id: string }) {
  const asked = useAnswer<ChangesData>("changes", { project: [properties.id], limit: 12 });
  return (
    <section>
      <h2>What changed last</h2>
      <Shown asked={asked}>
        {(data) => data.files.length === 0 ? <p class="empty">Nothing of it was taken in yet.</p> : (
          <ul class="plain">
            {data.files.map((file) => (
              <li>{moment(file.changed_at)} <a class="path" href={fileAddress(file.project, file.path, 1)}>{file.path}</a> <Badge>{file.role}</Badge></li>
            ))}
          </ul>
        )}
      </Shown>
    </section>
  );
}

function Links(properties: { id: string }) {
  const asked = useAnswer<LinksData>("graph-links", { project: [properties.id] });
  return (
    <section>
      <h2>Linked projects</h2>
      <Shown asked={asked}>
        {(data) => data.counts.length === 0 ? <p class="empty">No edge leads to or from another project.</p> : (
          <>
            <Table
              caption="Edges between this project and others"
              rows={data.counts}
              id={(row) => `${row.source} ${row.target} ${row.rule}`}
              columns={[
                { name: "From", cell: (row) => <a href={projectAddress(row.source)}>{row.source}</a>, order: (row) => row.source },
                { name: "To", cell: (row) => <a href={projectAddress(row.target)}>{row.target}</a>, order: (row) => row.target },
                { name: "Rule", cell: (row) => row.rule, order: (row) => row.rule },
                { name: "Edges", numeric: true, cell: (row) => String(row.count), order: (row) => row.count },
              ]}
            />
            <p><a href={`/graph?${new URLSearchParams({ project: properties.id })}`}>See them in the graph</a> ({count(data.total, "edge")})</p>
          </>
        )}
      </Shown>
    </section>
  );
}
