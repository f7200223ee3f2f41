// Which questions are worth asking, and where their words stand in a passage. No DOM.

const WORD = /[\p{L}\p{N}_]+/gu;
const UNSEGMENTED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/** Whether a question is long enough: two letters, or one of a script that writes words with one. */
export function worthAsking(question: string): boolean {
  const text = question.trim();
  return [...text].length >= 2 || UNSEGMENTED.test(text);
}

/** Cut a passage where words of the question begin and end; the flag says which parts are words. */
export function marked(passage: string, question: string): [text: string, hit: boolean][] {
  const words = [...new Set((question.match(WORD) ?? []).filter((word) => word.length > 1 || UNSEGMENTED.test(word)))];
  if (words.length === 0) return [[passage, false]];
  const escaped = words.sort((one, other) => other.length - one.length).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(${escaped.join("|")})`, "giu");
  return passage
    .split(pattern)
    .map((text, at): [string, boolean] => [text, at % 2 === 1])
    .filter(([text]) => text !== "");
}
