/* Counts a text: what it would cost an agent to read it. Asks nothing of the host. */
#include "abi.h"

static int is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void put_count(writer *to, text name, u32 value) {
  put_string(to, name);
  put(to, WORDS(":"));
  put_number(to, value);
}

static text answer(text operation, text arguments, writer *result) {
  (void)operation;
  text words = decoded(member(arguments, WORDS("text")));
  u32 count = 0, lines = 0, characters = 0, tokens = 0, run = 0;
  int within = 0;
  for (u32 i = 0; i < words.size; i++) {
    unsigned char c = (unsigned char)words.at[i];
    if ((c & 0xc0) != 0x80) characters++;
    if (c == '\n') lines++;
    if (is_blank((char)c)) {
      within = 0;
      run = 0;
      continue;
    }
    if (!within) count++;
    within = 1;
    /* About four letters of a word make a token; a mark, or a character beyond ASCII, is one. */
    int letter = (c | 32) >= 'a' && (c | 32) <= 'z';
    if (!letter && (c & 0xc0) != 0x80) { tokens++; run = 0; }
    else if (letter && run++ % 4 == 0) tokens++;
  }
  if (words.size && words.at[words.size - 1] != '\n') lines++;
  put(result, WORDS("{"));
  put_count(result, WORDS("words"), count);
  put(result, WORDS(","));
  put_count(result, WORDS("lines"), lines);
  put(result, WORDS(","));
  put_count(result, WORDS("characters"), characters);
  put(result, WORDS(","));
  put_count(result, WORDS("bytes"), words.size);
  put(result, WORDS(","));
  put_count(result, WORDS("tokens"), tokens);
  put(result, WORDS("}"));
  return (text){0, 0};
}
