import { useEffect } from "preact/hooks";
import { short } from "../format.ts";
import { Badge, Choice, Copy, Frame, Shown, projectAddress } from "../parts.tsx";
import { useAnswer, useParameter } from "../state.ts";

/** A file as it is now, around a line: the page's own document (`agentic-os/file/v1`). */
export interface FileData {
  project: string;
  path: string;
  first: number;
  lines: string[];
  total: number;
  redactions: number;
  sha256: string;
}

const EDITORS: readonly [string, string][] = [
  ["", "no editor"],
  ["vscode", "VS Code"],
  ["cursor", "Cursor"],
  ["zed", "Zed"],
  ["idea", "JetBrains"],
];
const KEY = "agentic-os editor";

/** A link that opens a place in the editor that the person chose; the server makes its address. */
export function Editor(properties: { project: string; path: string; line: number }) {
  const editor = localStorage.getItem(KEY) ?? "";
  const name = EDITORS.find(([value]) => value === editor)?.[1];
  if (!editor || !name) return null;
  const { project, path, line } = properties;
  return <a href={`/open?${new URLSearchParams({ project, path, line: String(line), editor })}`}>Open in {name}</a>;
}

export function File() {
  const [project] = useParameter("project");
  const [path] = useParameter("path");
  const [line] = useParameter("line", "1");
  const [scheme, setScheme] = [localStorage.getItem(KEY) ?? "", (value: string) => {
    if (value) localStorage.setItem(KEY, value);
    else localStorage.removeItem(KEY);
    location.reload();
  }];
  const asked = useAnswer<FileData>("file", { project, path, line });
  useEffect(() => {
    document.getElementById(`L${line}`)?.scrollIntoView({ block: "center" });
  }, [asked.answer?.data.sha256]);
  return (
    <Frame title={path.split("/").at(-1) || "File"} command={`agentic-os open ${project}:${path}:${line}`}>
      <p class="place">
        <a href={projectAddress(project)}>{project}</a> <span class="path">{path}</span>{" "}
        <Copy text={`${project}:${path}:${line}`} label="Copy reference" /> <Editor project={project} path={path} line={Number(line)} />
      </p>
      <div class="filters">
        <Choice label="Editor" value={scheme} options={EDITORS} onChoice={setScheme} />
      </div>
      <Shown asked={asked}>
        {(data) => (
          <>
            <p>
              <Badge kind="good">read just now</Badge> <code>{short(data.sha256)}</code>{" "}
              {data.redactions > 0 && <Badge kind="odd">{data.redactions} secrets replaced</Badge>}{" "}
              lines {data.first} to {data.first + data.lines.length - 1} of {data.total}
            </p>
            <div class="scroll" role="region" aria-label={`Lines of ${path}`} tabIndex={0}>
              <table class="code">
                <tbody>
                  {data.lines.map((text, at) => {
                    const number = data.first + at;
                    return (
                      <tr id={`L${number}`} class={String(number) === line ? "chosen" : undefined}>
                        <th scope="row">{number}</th>
                        <td>{text}</td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            </div>
          </>
        )}
      </Shown>
    </Frame>
  );
}
