import type { CapabilitiesData, LinksData, MemoryData, ScanData, VaultData } from "../generated/documents.ts";
import { count, short } from "../format.ts";
import { Badge, Frame, Shown, Table, fileAddress, projectAddress } from "../parts.tsx";
import { useAnswer, useParameter } from "../state.ts";
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
      {view && <><Memory id={id} /><Vault id={id} /><Capabilities id={id} /><Links id={id} /></>}
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
