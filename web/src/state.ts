// State that a page keeps in its address, so that the back button and bookmarks work; and answers.

import { useEffect, useRef, useState } from "preact/hooks";
import { ask, AnswerError, queryOf, type Answer, type Problem, type Question } from "./api.ts";
import { listen } from "./live.ts";

/** One parameter of the address. A change replaces the entry of the history, as typing should. */
export function useParameter(name: string, initial = ""): [string, (value: string) => void] {
  const read = () => new URLSearchParams(location.search).get(name) ?? initial;
  const [value, setValue] = useState(read);
  useEffect(() => {
    const back = () => setValue(read());
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, []);
  const change = (next: string) => {
    const search = new URLSearchParams(location.search);
    if (next === initial) search.delete(name);
    else search.set(name, next);
    const text = search.toString();
    history.replaceState(null, "", text ? `?${text}` : location.pathname);
    setValue(next);
  };
  return [value, change];
}

/** A parameter that may be given several times. */
export function useParameters(name: string): [string[], (values: string[]) => void] {
  const [values, setValues] = useState(() => new URLSearchParams(location.search).getAll(name));
  const change = (next: string[]) => {
    const search = new URLSearchParams(location.search);
    search.delete(name);
    for (const value of next) search.append(name, value);
    const text = search.toString();
    history.replaceState(null, "", text ? `?${text}` : location.pathname);
    setValues(next);
  };
  return [values, change];
}

export interface Asked<T> {
  answer: Answer<T> | undefined;
  problem: Problem | undefined;
  waiting: boolean;
}

const UNREACHABLE: Problem = {
  code: "SERVER_GONE",
  message: "The server does not answer.",
  hint: "It ends with the command that started it: run `agentic-os dashboard` again.",
};

/**
 * Ask for a document, again whenever the question or the fleet changes. The last answer stays
 * visible while the next one is on its way, so that nothing jumps.
 */
export function useAnswer<T>(name: string, question: Question | undefined, live = true): Asked<T> {
  const [asked, setAsked] = useState<Asked<T>>({ answer: undefined, problem: undefined, waiting: true });
  const [generation, setGeneration] = useState(0);
  const key = question === undefined ? undefined : name + queryOf(question);
  const last = useRef<string | undefined>(undefined);
  useEffect(() => (live ? listen(setGeneration) : undefined), [live]);
  useEffect(() => {
    if (question === undefined) {
      setAsked({ answer: undefined, problem: undefined, waiting: false });
      return undefined;
    }
    const control = new AbortController();
    if (last.current !== key) setAsked((before) => ({ ...before, waiting: true }));
    last.current = key;
    ask<T>(name, question, control.signal)
      .then((answer) => setAsked({ answer, problem: undefined, waiting: false }))
      .catch((error: unknown) => {
        if (control.signal.aborted) return;
        const problem = error instanceof AnswerError ? error.problem : UNREACHABLE;
        setAsked({ answer: undefined, problem, waiting: false });
      });
    return () => control.abort();
  }, [key, generation]);
  return asked;
}

/** A value that follows another once it has rested for a moment. */
export function useRested<T>(value: T, milliseconds: number): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return rested;
}
