import type { Check, DoctorData, IndexStatusData } from "../generated/documents.ts";
import { count, number } from "../format.ts";
import { Badge, Choice, Frame, Shown, Table, projectAddress } from "../parts.tsx";
import { useAnswer, useParameter } from "../state.ts";

const STATES: Record<IndexStatusData["state"], string> = {
  none: "There is no vector index: questions are answered by words. `agentic-os index build` makes one.",
  sound: "The vector index is current.",
  changed: "Files changed since the vector index was built. `agentic-os index build` takes them in.",
  damaged: "The vector index cannot be used. `agentic-os index build` makes it anew.",
};

export function Health() {
  const [status, setStatus] = useParameter("status", "trouble");
  const checks = useAnswer<DoctorData>("doctor", {});
  const index = useAnswer<IndexStatusData>("index-status", {});
  return (
    <Frame title="Health" command="agentic-os doctor">
      <section>
        <h2>Search by meaning</h2>
        <Shown asked={index}>
          {(data) => (
            <p>
              {STATES[data.state]} {data.rows > 0 && `${count(data.rows, "passage")} of ${count(data.projects, "project")}, ${number(Math.round(data.bytes / 1_048_576))} MiB.`}
              {data.model && <> Model: <code>{data.model}</code></>}
            </p>
          )}
        </Shown>
      </section>
      <section>
        <h2>Checks</h2>
        <form class="filters" onSubmit={(event) => event.preventDefault()}>
          <Choice label="Show" value={status} onChoice={setStatus} options={[["trouble", "what is not in order"], ["all", "all checks"]]} />
        </form>
        <Shown asked={checks}>
          {(data) => {
            const shown = data.checks.filter((check) => status === "all" || check.status !== "ok" && check.status !== "none");
            return shown.length === 0 ? <p class="empty">All {number(data.checks.length)} checks are in order.</p> : (
              <>
                <p role="status">{count(shown.length, "check")} of {number(data.checks.length)}</p>
                <Table<Check>
                  caption="Checks"
                  rows={shown}
                  id={(check) => `${check.id} ${check.project} ${check.path} ${check.line} ${check.message}`}
                  columns={[
                    { name: "Status", cell: (check) => <Badge kind={check.status}>{check.status}</Badge>, order: (check) => check.status },
                    { name: "Check", cell: (check) => <code>{check.id}</code>, order: (check) => check.id },
                    { name: "Project", cell: (check) => check.project && <a href={projectAddress(check.project)}>{check.project}</a>, order: (check) => check.project ?? "" },
                    {
                      name: "What",
                      cell: (check) => (
                        <>
                          {check.path && <span class="path">{check.path}{check.line !== null && `:${check.line}`} </span>}
                          {check.message} {check.hint && <em>{check.hint}</em>}
                        </>
                      ),
                    },
                  ]}
                />
              </>
            );
          }}
        </Shown>
      </section>
    </Frame>
  );
}
