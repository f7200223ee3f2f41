import type { EntryView, Finding, ShowData } from "../generated/documents.ts";
import { count, moment, number, short } from "../format.ts";
import { Badge, Choice, Frame, Shown, Table } from "../parts.tsx";
import { useAnswer, useParameter } from "../state.ts";

/** How the identity looks without booting it (`agentic-os/identity/v1`). */
export interface IdentityData {
  state: "absent" | "sound" | "latched" | "damaged";
  findings: Finding[];
  lines: number;
  origin: string;
  acknowledged: number;
  acknowledged_at: string;
  witnesses: { key: string; line: number; at: string }[];
}

const STATES: Record<IdentityData["state"], [kind: string, words: string]> = {
  absent: ["", "There is no identity on this machine."],
  sound: ["good", "The ledger verifies and agrees with everything that lies beside it."],
  latched: ["odd", "The identity is in safe mode: a former fault has not been settled."],
  damaged: ["error", "Something does not verify. Nothing may be appended until it is settled."],
};

const RINGS: readonly [string, string][] = [["", "all rings"], ...["0", "1", "2", "3", "4", "5"].map((ring): [string, string] => [ring, `ring ${ring}`])];

export function Identity() {
  const [ring, setRing] = useParameter("ring");
  const asked = useAnswer<IdentityData>("identity", {});
  const present = asked.answer !== undefined && asked.answer.data.state !== "absent";
  return (
    <Frame title="Identity" command="agentic-os ledger verify">
      <Shown asked={asked}>{(data) => <Standing data={data} />}</Shown>
      {present && (
        <section>
          <h2>The chain</h2>
          <form class="filters" onSubmit={(event) => event.preventDefault()}>
            <Choice label="Ring" value={ring} onChoice={setRing} options={RINGS} />
          </form>
          <Chain ring={ring} />
        </section>
      )}
    </Frame>
  );
}

function Standing(properties: { data: IdentityData }) {
  const { data } = properties;
  const [kind, words] = STATES[data.state];
  if (data.state === "absent") return <p class="empty">{words} <code>agentic-os ledger init</code> makes one.</p>;
  const unattested = data.lines - data.acknowledged;
  return (
    <>
      <p class={`note ${kind}`} role={kind === "error" ? "alert" : undefined}><strong>{words}</strong></p>
      {data.findings.length > 0 && (
        <ul class="plain findings">
          {data.findings.map((item) => (
            <li class="note error">
              <code>{item.code}</code> {item.seq !== null && <span>line {item.seq}: </span>}{item.message}
              {item.hint && <p><strong>The way out:</strong> {item.hint}</p>}
            </li>
          ))}
        </ul>
      )}
      <dl class="facts">
        <dt>Origin</dt><dd><code>{data.origin}</code></dd>
        <dt>Lines</dt><dd>{number(data.lines)}</dd>
        <dt>Witnessed</dt>
        <dd>
          {data.acknowledged === 0
            ? "no line yet: a rollback would not be noticed"
            : <>up to line {number(data.acknowledged)}, {moment(data.acknowledged_at)}{unattested > 0 && `; ${count(unattested, "newer line is", "newer lines are")} known to this machine alone`}</>}
        </dd>
      </dl>
      {data.witnesses.length > 0 && (
        <Table
          caption="Witnesses"
          rows={data.witnesses}
          id={(row) => row.key}
          columns={[
            { name: "Witness key", cell: (row) => <code>{row.key}</code>, order: (row) => row.key },
            { name: "Up to line", numeric: true, cell: (row) => number(row.line), order: (row) => row.line },
            { name: "When", cell: (row) => moment(row.at), order: (row) => row.at },
          ]}
        />
      )}
    </>
  );
}

function Chain(properties: { ring: string }) {
  const asked = useAnswer<ShowData>("ledger-show", { ring: properties.ring, limit: 200 });
  return (
    <Shown asked={asked}>
      {(data) => (
        <>
          <p role="status">{count(data.entries.length, "line")} of {number(data.matched)}, newest last</p>
          <ol class="rings" aria-hidden="true">
            {data.entries.map((entry) => <li class={`fill${entry.ring}`} title={`${entry.seq} ${entry.type}`} />)}
          </ol>
          <Table<EntryView>
            caption="Lines of the ledger"
            rows={data.entries}
            id={(row) => String(row.seq)}
            columns={[
              { name: "Line", numeric: true, cell: (row) => String(row.seq), order: (row) => row.seq },
              { name: "When", cell: (row) => moment(row.ts), order: (row) => row.ts },
              { name: "Ring", numeric: true, cell: (row) => <><span class={`swatch fill${row.ring}`} /> {row.ring}</>, order: (row) => row.ring },
              { name: "Type", cell: (row) => <code>{row.type}</code>, order: (row) => row.type },
              { name: "By", cell: (row) => <Badge>{row.role}</Badge>, order: (row) => row.role },
              { name: "Hash", cell: (row) => <code>{short(row.hash)}</code> },
            ]}
          />
        </>
      )}
    </Shown>
  );
}
