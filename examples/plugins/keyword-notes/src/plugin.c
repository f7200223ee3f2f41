/* Keeps notes in the host's key-value store and finds them by a word. Asks for ring4.kv. */
#include "abi.h"

static text result_of(text reply) {
  return member(member(reply, WORDS("result")), WORDS("operation_result"));
}

/* Why a host call did not succeed: the word of the result, or of the denial. */
static text reason_of(text reply) {
  text code = member(member(reply, WORDS("result")), WORDS("reasonCode"));
  if (!code.size)
    code = member(member(member(reply, WORDS("error")), WORDS("data")), WORDS("reasonCode"));
  return decoded(code);
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static int holds(text note, text word) {
  for (u32 i = 0; i + word.size <= note.size; i++) {
    u32 same_chars = 0;
    while (same_chars < word.size && lower(note.at[i + same_chars]) == lower(word.at[same_chars]))
      same_chars++;
    if (same_chars == word.size) return 1;
  }
  return 0;
}

static text keep(text arguments, writer *result) {
  writer given = {0};
  put(&given, WORDS("{\"key\":"));
  put(&given, member(arguments, WORDS("key")));
  put(&given, WORDS(",\"value\":"));
  put(&given, member(arguments, WORDS("note")));
  put(&given, WORDS("}"));
  text reply = ask(WORDS("kv.put"), (text){0, 0}, (text){given.at, given.size});
  text why = reason_of(reply);
  put(result, result_of(reply));
  return why;
}

static text find(text arguments, writer *result) {
  text word = decoded(member(arguments, WORDS("word")));
  text reply = ask(WORDS("kv.list"), (text){0, 0}, WORDS("{}"));
  text why = reason_of(reply);
  if (why.size) return why;
  text keys = member(result_of(reply), WORDS("keys"));
  put(result, WORDS("{\"keys\":["));
  int some = 0, asked = 0;
  for (u32 at = 1; at + 1 < keys.size;) {
    u32 end = skip_value(keys, at);
    text key = {keys.at + at, end - at};
    at = end + 1;
    /* The host answers at most 64 questions a call: the list was one. */
    if (++asked > 60) return WORDS("more notes than one call may look at");
    writer given = {0};
    put(&given, WORDS("{\"key\":"));
    put(&given, key);
    put(&given, WORDS("}"));
    text got = ask(WORDS("kv.get"), (text){0, 0}, (text){given.at, given.size});
    if (holds(decoded(member(result_of(got), WORDS("value"))), word)) {
      if (some) put(result, WORDS(","));
      put(result, key);
      some = 1;
    }
  }
  put(result, WORDS("]}"));
  return (text){0, 0};
}

static text answer(text operation, text arguments, writer *result) {
  return same(operation, WORDS("core.note_put")) ? keep(arguments, result)
                                                 : find(arguments, result);
}
