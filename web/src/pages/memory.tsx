import type { Difference, DifferencesData, FactView, MemoryData } from "../generated/documents.ts";
import { count } from "../format.ts";
import { Field, Frame, Shown, fileAddress, projectAddress } from "../parts.tsx";
import { useAnswer, useParameter } from "../state.ts";

const matches = (filter: string, ...texts: readonly string[]): boolean =>
  texts.some((text) => text.toLowerCase().includes(filter.toLowerCase()));

export function Source(properties: { project: string; path: string; line: number }) {
  const { project, path, line } = properties;
  return (
    <>
      <a href={projectAddress(project)}>{project}</a> <a class="path" href={fileAddress(project, path, line)}>{path}:{line}</a>
    </>
  );
}

/** One key, and what each side says of it, with its sources. */
export function Sides(properties: { item: Difference }) {
  return (
    <article class="difference">
      <h3>{properties.item.key}</h3>
      <div class="sides">
        {properties.item.values.map((value) => (
          <div>
            <p class="value">{value.value}</p>
            <ul class="plain">
              {value.sources.map((source) => <li><Source project={source.project} path={source.path} line={source.lines[0]} /></li>)}
            </ul>
          </div>
        ))}
      </div>
    </article>
  );
}

/** Facts with one text in several projects, one entry a text. */
export function repeated(facts: readonly FactView[]): FactView[][] {
  const groups = new Map<string, FactView[]>();
  for (const fact of facts) {
    if (fact.equal_in.length === 0 || fact.template) continue;
    groups.set(fact.group, [...(groups.get(fact.group) ?? []), fact]);
  }
  return [...groups.values()].sort((one, other) => other.length - one.length);
}

export function Memory() {
  const [filter, setFilter] = useParameter("filter");
  const differing = useAnswer<DifferencesData>("memory-differences", {});
  const memory = useAnswer<MemoryData>("memory", {});
  return (
    <Frame title="Memory" command="agentic-os memory --differences">
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <Field label="Filter" value={filter} onText={setFilter} placeholder="a key, a value or a project" />
      </form>
      <section>
        <h2>What projects state differently</h2>
        <Shown asked={differing}>
          {(data) => {
            const shown = data.differences.filter((item) =>
              matches(filter, item.key, ...item.values.flatMap((value) => [value.value, ...value.sources.map((one) => one.project)])));
            return shown.length === 0 ? <p class="empty">No two projects state different values of one key.</p> : (
              <>
                <p role="status">{count(shown.length, "key")}</p>
                {shown.map((item) => <Sides item={item} />)}
              </>
            );
          }}
        </Shown>
      </section>
      <section>
        <h2>Facts that several projects repeat</h2>
        <Shown asked={memory}>
          {(data) => {
            const groups = repeated(data.facts).filter((group) => matches(filter, ...group.flatMap((fact) => [fact.title, fact.text, fact.provenance.project])));
            return groups.length === 0 ? <p class="empty">No fact stands in two projects.</p> : (
              <>
                <p role="status">{count(groups.length, "fact")}</p>
                {groups.map((group) => (
                  <article class="difference">
                    <h3>{group[0]?.title}</h3>
                    <p>{group[0]?.description}</p>
                    <ul class="plain">
                      {group.map((fact) => <li><Source project={fact.provenance.project} path={fact.provenance.path} line={fact.provenance.lines[0]} /></li>)}
                    </ul>
                  </article>
                ))}
              </>
            );
          }}
        </Shown>
      </section>
    </Frame>
  );
}
