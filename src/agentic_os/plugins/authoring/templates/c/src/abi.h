/* The plugin ABI for C without a C library: memory, JSON in and out, calls to the host.
 *
 * A guest exports its memory and the functions below; the host passes one JSON-RPC text to
 * plugin-invoke and reads one back. Everything lives until the answer was read, then the
 * whole memory is free again.
 */
#ifndef ABI_H
#define ABI_H

typedef unsigned int u32;
typedef struct { const char *at; u32 size; } text;

#define EXPORT(name) __attribute__((export_name(name)))
#define WORDS(s) ((text){(s), sizeof(s) - 1})

extern unsigned char __heap_base;
static u32 abi_heap;

__attribute__((import_module("aiii:bbb/bbb"), import_name("invoke-call")))
void host_invoke(const char *at, u32 size, text *reply);

/* ---- memory ---- */

static char *allocate(u32 size) {
  if (!abi_heap) abi_heap = (u32)&__heap_base;
  u32 at = (abi_heap + 7) & ~7u;
  u32 need = at + size;
  if (need < at) __builtin_trap();
  u32 have = __builtin_wasm_memory_size(0) << 16;
  if (need > have && __builtin_wasm_memory_grow(0, ((need - have) >> 16) + 1) == (u32)-1)
    __builtin_trap();
  abi_heap = need;
  return (char *)at;
}

EXPORT("cabi_realloc") char *cabi_realloc(char *old, u32 old_size, u32 align, u32 size) {
  (void)align;
  char *made = allocate(size);
  for (u32 i = 0; i < old_size && i < size; i++) made[i] = old[i];
  return made;
}

EXPORT("aiii-plugin-bbb-protocol-version") int protocol_version(void) { return 2; }
EXPORT("aiii-plugin-smoke") int smoke(void) { return 1; }
EXPORT("cabi_post_plugin-invoke") void forget(text *answer) { (void)answer; abi_heap = 0; }

/* ---- reading JSON that the host wrote ---- */

static u32 skip_blank(text json, u32 at) {
  while (at < json.size && (json.at[at] == ' ' || json.at[at] == '\n' || json.at[at] == '\t')) at++;
  return at;
}

/* Where the value that begins at `at` ends. */
static u32 skip_value(text json, u32 at) {
  u32 depth = 0;
  int quoted = 0;
  for (; at < json.size; at++) {
    char c = json.at[at];
    if (quoted) {
      if (c == '\\') at++;
      else if (c == '"' && (quoted = 0, !depth)) return at + 1;
    } else if (c == '"') quoted = 1;
    else if (c == '{' || c == '[') depth++;
    else if (c == '}' || c == ']') {
      if (!depth) return at;
      if (!--depth) return at + 1;
    } else if (!depth && (c == ',' || c == ' ' || c == '\n')) return at;
  }
  return at;
}

static int same(text a, text b) {
  if (a.size != b.size) return 0;
  for (u32 i = 0; i < a.size; i++) if (a.at[i] != b.at[i]) return 0;
  return 1;
}

/* The value of a member of an object, as it is written; empty where there is none. */
static text member(text object, text name) {
  u32 at = 1;
  while (at < object.size && object.at[at] != '}') {
    at = skip_blank(object, at);
    u32 end = skip_value(object, at);
    text key = {object.at + at + 1, end - at - 2};
    at = skip_blank(object, end) + 1;
    at = skip_blank(object, at);
    end = skip_value(object, at);
    if (same(key, name)) return (text){object.at + at, end - at};
    at = skip_blank(object, end);
    if (at < object.size && object.at[at] == ',') at++;
  }
  return (text){0, 0};
}

static u32 hex4(const char *at) {
  u32 value = 0;
  for (u32 i = 0; i < 4; i++) {
    char c = at[i];
    value = value * 16 + (u32)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  }
  return value;
}

/* A JSON string as UTF-8; what is no string is empty. */
static text decoded(text json) {
  if (json.size < 2 || json.at[0] != '"') return (text){0, 0};
  char *out = allocate(json.size);
  u32 size = 0;
  for (u32 i = 1; i + 1 < json.size; i++) {
    char c = json.at[i];
    if (c != '\\') { out[size++] = c; continue; }
    c = json.at[++i];
    if (c != 'u') {
      out[size++] = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' ? '\b'
                  : c == 'f' ? '\f' : c;
      continue;
    }
    u32 code = hex4(json.at + i + 1);
    i += 4;
    if (code >= 0xd800 && code < 0xdc00 && i + 6 < json.size) {
      code = 0x10000 + ((code - 0xd800) << 10) + (hex4(json.at + i + 3) - 0xdc00);
      i += 6;
    }
    if (code < 0x80) out[size++] = (char)code;
    else if (code < 0x800) {
      out[size++] = (char)(0xc0 | code >> 6);
      out[size++] = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
      out[size++] = (char)(0xe0 | code >> 12);
      out[size++] = (char)(0x80 | (code >> 6 & 63));
      out[size++] = (char)(0x80 | (code & 63));
    } else {
      out[size++] = (char)(0xf0 | code >> 18);
      out[size++] = (char)(0x80 | (code >> 12 & 63));
      out[size++] = (char)(0x80 | (code >> 6 & 63));
      out[size++] = (char)(0x80 | (code & 63));
    }
  }
  return (text){out, size};
}

/* ---- writing JSON ---- */

typedef struct { char *at; u32 size, room; } writer;

static void put(writer *to, text words) {
  if (to->size + words.size > to->room) {
    u32 room = (to->size + words.size) * 2 + 256;
    to->at = cabi_realloc(to->at, to->size, 1, room);
    to->room = room;
  }
  for (u32 i = 0; i < words.size; i++) to->at[to->size++] = words.at[i];
}

static void put_string(writer *to, text words) {
  put(to, WORDS("\""));
  for (u32 i = 0; i < words.size; i++) {
    unsigned char c = (unsigned char)words.at[i];
    if (c == '"' || c == '\\') put(to, WORDS("\\"));
    if (c < 0x20) {
      char code[6] = {'\\', 'u', '0', '0', "0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15]};
      put(to, (text){code, 6});
    } else put(to, (text){words.at + i, 1});
  }
  put(to, WORDS("\""));
}

static void put_number(writer *to, u32 value) {
  char digits[10];
  u32 at = 10;
  do { digits[--at] = (char)('0' + value % 10); value /= 10; } while (value);
  put(to, (text){digits + at, 10 - at});
}

/* Ask the host for an operation; `arguments` is a JSON object. Returns the whole reply. */
static text ask(text operation, text target, text arguments) {
  writer call = {0};
  put(&call, WORDS("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"invoke.call\",\"params\":{\"operation\":"));
  put_string(&call, operation);
  if (target.size) { put(&call, WORDS(",\"target\":")); put_string(&call, target); }
  put(&call, WORDS(",\"arguments\":"));
  put(&call, arguments);
  put(&call, WORDS("}}"));
  text *reply = (text *)allocate(sizeof(text));
  host_invoke(call.at, call.size, reply);
  return *reply;
}

/* ---- the call: a plugin defines `answer` ---- */

/* Write the result of one operation, or return why there is none. */
static text answer(text operation, text arguments, writer *result);

EXPORT("plugin-invoke") text *plugin_invoke(const char *at, u32 size) {
  text call = {at, size};
  text parameters = member(call, WORDS("params"));
  writer result = {0}, out = {0};
  text why = answer(decoded(member(parameters, WORDS("operation"))),
                    member(parameters, WORDS("arguments")), &result);
  put(&out, WORDS("{\"jsonrpc\":\"2.0\",\"id\":"));
  put(&out, member(call, WORDS("id")));
  if (why.size) {
    put(&out, WORDS(",\"result\":{\"status\":\"failed\",\"reasonCode\":\"PLUGIN\",\"reason\":"));
    put_string(&out, why);
  } else {
    put(&out, WORDS(",\"result\":{\"status\":\"ok\",\"operation_result\":"));
    put(&out, (text){result.at, result.size});
  }
  put(&out, WORDS("}}"));
  text *pair = (text *)allocate(sizeof(text));
  *pair = (text){out.at, out.size};
  return pair;
}

#endif
