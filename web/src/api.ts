// The documents of the command line, fetched from this page's own server.

export interface Problem {
  code: string;
  message: string;
  hint: string;
}

export interface Omission {
  code: string;
  scope: string;
  reason: string;
  count: number;
}

export interface Warning {
  code: string;
  severity: "info" | "warning" | "error";
  message: string;
  hint: string;
  path: string | null;
  line: number | null;
}

/** One answer: the document of a command, and the state of the fleet that it was computed from. */
export interface Answer<T> {
  schema: string;
  data: T;
  omissions: Omission[];
  warnings: Warning[];
  generation: number;
}

export class AnswerError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

export type Question = Record<string, string | number | readonly string[] | undefined>;

/** The query string of a question, in a fixed order so that equal questions are equal addresses. */
export function queryOf(question: Question): string {
  const search = new URLSearchParams();
  for (const name of Object.keys(question).sort()) {
    const value = question[name];
    if (value === undefined || value === "") continue;
    if (typeof value === "object") for (const item of value) search.append(name, item);
    else search.append(name, String(value));
  }
  const text = search.toString();
  return text ? `?${text}` : "";
}

/** Ask for one document. An older question of the same page is given up through `signal`. */
export async function ask<T>(name: string, question: Question, signal?: AbortSignal): Promise<Answer<T>> {
  const response = await fetch(`/api/${name}${queryOf(question)}`, signal ? { signal } : {});
  const document = (await response.json()) as Partial<Answer<T>> & { error?: Problem | null };
  if (document.data === undefined || document.data === null) {
    throw new AnswerError(
      document.error ?? { code: "ANSWER_UNREADABLE", message: "The server's answer cannot be read.", hint: "" },
    );
  }
  return {
    schema: document.schema ?? "",
    data: document.data,
    omissions: document.omissions ?? [],
    warnings: document.warnings ?? [],
    generation: Number(response.headers.get("X-Generation") ?? 0),
  };
}
