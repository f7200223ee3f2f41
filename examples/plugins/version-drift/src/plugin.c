/* Asks the fleet where a dependency is named, compares the versions, and proposes to note a
 * difference. Asks for fleet.read and agent.propose. */
#include "abi.h"

#define MOST 16

static int is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* A version that follows the name at `at`, after marks such as ==, ~>, ": "^ */
static text version_after(text words, u32 at) {
  u32 marks = 0;
  while (at < words.size && marks < 8 && !is_digit(words.at[at])) {
    char c = words.at[at];
    if (is_name(c) && c != 'v') return (text){0, 0};
    if (c == '\n') return (text){0, 0};
    at++;
    marks++;
  }
  u32 end = at;
  while (end < words.size && (is_digit(words.at[end]) || words.at[end] == '.')) end++;
  while (end > at && words.at[end - 1] == '.') end--;
  return (text){words.at + at, end - at};
}

static u32 add(text *seen, u32 count, text version) {
  for (u32 i = 0; i < count; i++) if (same(seen[i], version)) return count;
  if (count < MOST) seen[count++] = version;
  return count;
}

static text answer(text operation, text arguments, writer *result) {
  (void)operation;
  text name = decoded(member(arguments, WORDS("dependency")));
  writer given = {0};
  put(&given, WORDS("{\"query\":"));
  put_string(&given, name);
  put(&given, WORDS(",\"limit\":10}"));
  text reply = ask(WORDS("fleet.search"), (text){0, 0}, (text){given.at, given.size});
  text hits = member(member(member(reply, WORDS("result")), WORDS("operation_result")), WORDS("hits"));
  if (!hits.size) return WORDS("the fleet could not be asked");
  text seen[MOST];
  u32 count = 0;
  for (u32 at = 1; at + 1 < hits.size;) {
    u32 end = skip_value(hits, at);
    text hit = {hits.at + at, end - at};
    at = end + 1;
    text words = decoded(member(hit, WORDS("snippet")));
    for (u32 i = 0; i + name.size < words.size; i++) {
      if (i && is_name(words.at[i - 1])) continue;
      if (!same((text){words.at + i, name.size}, name)) continue;
      text version = version_after(words, i + name.size);
      if (version.size) count = add(seen, count, version);
    }
  }
  int proposed = 0;
  if (count > 1) {
    writer words = {0}, call = {0};
    put(&words, name);
    put(&words, WORDS(" has different versions in the fleet: "));
    for (u32 i = 0; i < count; i++) {
      if (i) put(&words, WORDS(", "));
      put(&words, seen[i]);
    }
    put(&call, WORDS("{\"observations\":["));
    put_string(&call, (text){words.at, words.size});
    put(&call, WORDS("]}"));
    text done = ask(WORDS("agent.observe"), (text){0, 0}, (text){call.at, call.size});
    proposed = member(done, WORDS("result")).size != 0;
  }
  put(result, WORDS("{\"versions\":["));
  for (u32 i = 0; i < count; i++) {
    if (i) put(result, WORDS(","));
    put_string(result, seen[i]);
  }
  put(result, WORDS("],\"proposed\":"));
  put(result, proposed ? WORDS("true") : WORDS("false"));
  put(result, WORDS("}"));
  return (text){0, 0};
}
