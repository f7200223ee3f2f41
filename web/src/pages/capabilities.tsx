import type { CapabilitiesData, CapabilityView } from "../generated/documents.ts";
import { count } from "../format.ts";
import { Badge, Choice, Field, Frame, Shown, fileAddress, projectAddress } from "../parts.tsx";
import { useAnswer, useParameter } from "../state.ts";

/** Kinds by project: how many of each kind a project has. */
export function matrix(items: readonly CapabilityView[]): { kinds: string[]; rows: [project: string, counts: Map<string, number>][] } {
  const rows = new Map<string, Map<string, number>>();
  for (const item of items) {
    for (const project of item.projects) {
      const counts = rows.get(project) ?? new Map<string, number>();
      counts.set(item.section, (counts.get(item.section) ?? 0) + 1);
      rows.set(project, counts);
    }
  }
  const kinds = [...new Set(items.map((item) => item.section as string))].sort();
  return { kinds, rows: [...rows].sort(([one], [other]) => one.localeCompare(other)) };
}

export function Capabilities() {
  const [filter, setFilter] = useParameter("filter");
  const [only, setOnly] = useParameter("only");
  const asked = useAnswer<CapabilitiesData>("capabilities", {});
  return (
    <Frame title="Capabilities" command="agentic-os capabilities">
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <Field label="Filter" value={filter} onText={setFilter} placeholder="a skill, a server or a project" />
        <Choice label="Show" value={only} onChoice={setOnly} options={[["", "all"], ["differ", "what differs between projects"]]} />
      </form>
      <Shown asked={asked}>
        {(data) => {
          const wanted = filter.toLowerCase();
          const items = data.capabilities.filter((item) =>
            (!only || item.variants.length > 1)
            && [item.name, ...item.projects].some((text) => text.toLowerCase().includes(wanted)));
          const { kinds, rows } = matrix(items);
          return items.length === 0 ? <p class="empty">No capability matches.</p> : (
            <>
              <section>
                <h2>Kinds by project</h2>
                <div class="scroll" role="region" aria-label="Kinds by project" tabIndex={0}>
                  <table>
                    <caption class="hidden">How many capabilities of each kind a project has</caption>
                    <thead><tr><th scope="col">Project</th>{kinds.map((kind) => <th scope="col" class="numeric">{kind}</th>)}</tr></thead>
                    <tbody>
                      {rows.map(([project, counts]) => (
                        <tr>
                          <th scope="row"><a href={projectAddress(project)}>{project}</a></th>
                          {kinds.map((kind) => <td data-name={kind} class="numeric">{counts.get(kind) ?? "–"}</td>)}
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </div>
              </section>
              <section>
                <h2>Each capability</h2>
                <p role="status">{count(items.length, "capability", "capabilities")}</p>
                <ul class="cards">{items.map((item) => <Capability item={item} />)}</ul>
              </section>
            </>
          );
        }}
      </Shown>
    </Frame>
  );
}

function Capability(properties: { item: CapabilityView }) {
  const { item } = properties;
  return (
    <li>
      <h3>{item.name}</h3>
      <p><Badge>{item.section}</Badge> {item.variants.length > 1 && <Badge kind="odd">{item.variants.length} differing forms</Badge>}</p>
      {item.variants.map((variant) => (
        <div>
          <p>{variant.detail}</p>
          <ul class="plain">
            {variant.sources.map((source) => (
              <li><a class="path" href={fileAddress(source.project, source.path, source.lines[0])}>{source.project}:{source.path}:{source.lines[0]}</a></li>
            ))}
          </ul>
        </div>
      ))}
    </li>
  );
}
