import type { Check, DifferencesData, DoctorData, InstructionFile, InstructionsData } from "../generated/documents.ts";
import { count, number } from "../format.ts";
import { Badge, Field, Frame, Shown, Table, fileAddress, projectAddress } from "../parts.tsx";
import { useAnswer, useParameter } from "../state.ts";
import { Sides } from "./memory.tsx";

const DRIFT = ["instructions.drift", "instructions.imports", "instructions.length"];

/** Harnesses by project: which of a project's instruction files are for which harness. */
export function harnesses(files: readonly InstructionFile[]): { names: string[]; rows: [project: string, files: Map<string, InstructionFile[]>][] } {
  const rows = new Map<string, Map<string, InstructionFile[]>>();
  for (const file of files) {
    const own = rows.get(file.project) ?? new Map<string, InstructionFile[]>();
    own.set(file.harness, [...(own.get(file.harness) ?? []), file]);
    rows.set(file.project, own);
  }
  const names = [...new Set(files.map((file) => file.harness))].sort();
  return { names, rows: [...rows].sort(([one], [other]) => one.localeCompare(other)) };
}

export function Instructions() {
  const [filter, setFilter] = useParameter("filter");
  const rules = useAnswer<DifferencesData>("instruction-differences", {});
  const checks = useAnswer<DoctorData>("doctor", { check: DRIFT });
  const asked = useAnswer<InstructionsData>("instructions", {});
  const wanted = filter.toLowerCase();
  const matches = (...texts: readonly string[]) => texts.some((text) => text.toLowerCase().includes(wanted));
  return (
    <Frame title="Instructions" command="agentic-os instructions">
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <Field label="Filter" value={filter} onText={setFilter} placeholder="a rule, a file or a project" />
      </form>
      <section>
        <h2>Rules that repositories state differently</h2>
        <Shown asked={rules}>
          {(data) => {
            const shown = data.differences.filter((item) => matches(item.key, ...item.values.flatMap((value) => [value.value, ...value.sources.map((one) => one.project)])));
            return shown.length === 0 ? <p class="empty">No rule is stated with two values.</p> : (
              <>
                <p role="status">{count(shown.length, "rule")}</p>
                {shown.map((item) => <Sides item={item} />)}
              </>
            );
          }}
        </Shown>
      </section>
      <section>
        <h2>Drift inside a repository</h2>
        <Shown asked={checks}>
          {(data) => {
            const shown = data.checks.filter((check) => (check.status === "warn" || check.status === "fail") && matches(check.project ?? "", check.path ?? "", check.message));
            return shown.length === 0 ? <p class="empty">No two files for agents drift apart, no import is broken, and every file is read to its end.</p> : (
              <Table<Check>
                caption="Drift inside a repository"
                rows={shown}
                id={(check) => `${check.id} ${check.project} ${check.path} ${check.line} ${check.message}`}
                columns={[
                  { name: "Project", cell: (check) => check.project && <a href={projectAddress(check.project)}>{check.project}</a>, order: (check) => check.project ?? "" },
                  { name: "Check", cell: (check) => <code>{check.id}</code>, order: (check) => check.id },
                  { name: "File", cell: (check) => check.project && check.path && <a class="path" href={fileAddress(check.project, check.path, check.line ?? 1)}>{check.path}</a>, order: (check) => check.path ?? "" },
                  { name: "What", cell: (check) => <>{check.message} {check.hint && <em>{check.hint}</em>}</> },
                ]}
              />
            );
          }}
        </Shown>
      </section>
      <section>
        <h2>Harnesses by project</h2>
        <Shown asked={asked}>
          {(data) => {
            const { names, rows } = harnesses(data.files.filter((file) => matches(file.project, file.path, file.harness)));
            return rows.length === 0 ? <p class="empty">No file tells agents anything.</p> : (
              <>
                <p role="status">{count(data.files.length, "file")} in {count(rows.length, "project")}</p>
                <div class="scroll" role="region" aria-label="Harnesses by project" tabIndex={0}>
                  <table>
                    <caption class="hidden">The files that each harness reads in each project</caption>
                    <thead><tr><th scope="col">Project</th>{names.map((name) => <th scope="col">{name}</th>)}</tr></thead>
                    <tbody>
                      {rows.map(([project, own]) => (
                        <tr>
                          <th scope="row"><a href={projectAddress(project)}>{project}</a></th>
                          {names.map((name) => (
                            <td data-name={name}>
                              <ul class="plain">
                                {(own.get(name) ?? []).map((file) => (
                                  <li>
                                    <a class="path" href={fileAddress(project, file.path, 1)}>{file.path}</a> <span class="muted">{number(file.lines)}</span>
                                    {file.pointer && <Badge>pointer</Badge>}
                                  </li>
                                ))}
                              </ul>
                            </td>
                          ))}
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </div>
              </>
            );
          }}
        </Shown>
      </section>
    </Frame>
  );
}
