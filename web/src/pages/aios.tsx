import { number } from "../format.ts";
import { Badge, Choice, Field, Frame, Shown } from "../parts.tsx";
import { useAnswer, useParameter } from "../state.ts";

/** What a harness would get of the person's folder now (`agentic-os/aios-context/v1`). */
export interface ContextData {
  memory: string;
  receipt: string;
  notice: string | null;
  project: string | null;
  markdown: string;
  budget: { limit: number; used: number; remaining: number; truncated: boolean };
  sections: { name: string; chars: number; source: string }[];
  coverage: { excerpt_clipped: boolean; budget_omitted: boolean; notice: string | null } | null;
  withheld: number;
  hidden_characters: number;
}

const MODES: readonly [string, string][] = [["shared", "shared: all of my memory"], ["project", "this project only"], ["off", "off"]];

export function Aios() {
  const [mode, setMode] = useParameter("memory", "shared");
  const [project, setProject] = useParameter("project");
  const asked = useAnswer<ContextData>("aios-context", { memory: mode, project });
  return (
    <Frame title="Your folder" command={`agentic-os aios brief --memory ${mode}${project ? ` --project ${project}` : ""}`}>
      <p>This is what a harness gets of your AIOS folder at the start of a session, under each choice of memory.</p>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Choice label="Memory" value={mode} onChoice={setMode} options={MODES} />
        <Field label="Project" value={project} onText={setProject} placeholder="a project's slug" />
      </form>
      <Shown asked={asked}>{(data) => <Context data={data} />}</Shown>
    </Frame>
  );
}

function Context(properties: { data: ContextData }) {
  const { data } = properties;
  if (data.memory === "off") return <p class="empty">{data.notice ?? data.receipt}</p>;
  const { limit, used, truncated } = data.budget;
  return (
    <>
      <p><Badge kind="good">{data.receipt}</Badge> {data.project && <Badge>{data.project}</Badge>}</p>
      <section>
        <h2>Budget</h2>
        <p>{number(used)} of {number(limit)} characters{truncated && ", cut to fit"}</p>
        <Bar sections={data.sections} limit={limit} />
        <div class="scroll" role="region" aria-label="Sections of the context" tabIndex={0}>
          <table>
            <caption class="hidden">What fills the budget</caption>
            <thead><tr><th scope="col">Section</th><th scope="col" class="numeric">Characters</th><th scope="col">Source</th></tr></thead>
            <tbody>
              {data.sections.map((section, at) => (
                <tr>
                  <th scope="row"><span class={`swatch fill${at % 8}`} /> {section.name}</th>
                  <td data-name="Characters" class="numeric">{number(section.chars)}</td>
                  <td data-name="Source" class="path">{section.source}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      {data.coverage?.notice && <p class="note warning">{data.coverage.notice}</p>}
      {data.withheld > 0 && <p class="note warning">{number(data.withheld)} passages hold a secret and are left out.</p>}
      {data.hidden_characters > 0 && <p class="note warning">{number(data.hidden_characters)} hidden characters are in the text.</p>}
      <section>
        <h2>The text</h2>
        <pre class="passage" tabIndex={0}>{data.markdown}</pre>
      </section>
    </>
  );
}

/** The budget as a bar; the table below says the same in words. */
function Bar(properties: { sections: ContextData["sections"]; limit: number }) {
  let at = 0;
  return (
    <svg class="bar" viewBox="0 0 1000 24" preserveAspectRatio="none" aria-hidden="true">
      <rect class="room" x="0" y="0" width="1000" height="24" />
      {properties.sections.map((section, index) => {
        const width = (1000 * section.chars) / Math.max(1, properties.limit);
        const x = at;
        at += width;
        return <rect class={`fill${index % 8}`} x={x} y="0" width={width} height="24" />;
      })}
    </svg>
  );
}
