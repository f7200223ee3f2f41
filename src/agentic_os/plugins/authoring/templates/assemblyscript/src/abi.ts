// The plugin ABI for AssemblyScript: memory, finding members of JSON, calls to the host.
// Names with hyphens cannot be written here: the build renames plugin_invoke, smoke and
// protocol_version.

@external("aiii:bbb/bbb", "invoke-call")
declare function host_invoke(at: usize, size: usize, reply: usize): void;

export function cabi_realloc(old: usize, oldSize: usize, align: usize, size: usize): usize {
  const made = heap.alloc(size + 1);
  memory.copy(made, old, min(oldSize, size));
  return made;
}

export function protocol_version(): i32 {
  return 2;
}

export function smoke(): i32 {
  return 1;
}

// Where the value that begins at `at` ends.
function skipValue(json: string, at: i32): i32 {
  let depth = 0;
  let quoted = false;
  for (; at < json.length; at++) {
    const c = json.charCodeAt(at);
    if (quoted) {
      if (c == 0x5c) at++;
      else if (c == 0x22) {
        quoted = false;
        if (depth == 0) return at + 1;
      }
    } else if (c == 0x22) quoted = true;
    else if (c == 0x7b || c == 0x5b) depth++;
    else if (c == 0x7d || c == 0x5d) {
      if (depth == 0) return at;
      depth--;
      if (depth == 0) return at + 1;
    } else if (depth == 0 && c == 0x2c) return at;
  }
  return at;
}

// The value of a member of an object as the host wrote it: no blanks; empty where there is none.
export function member(json: string, name: string): string {
  let at = 1;
  while (at < json.length && json.charCodeAt(at) != 0x7d) {
    const end = skipValue(json, at);
    const valueEnd = skipValue(json, end + 1);
    if (json.substring(at + 1, end - 1) == name) return json.substring(end + 1, valueEnd);
    at = valueEnd + 1;
  }
  return "";
}

// Ask the host for an operation; `parameters` is a JSON object. Returns the whole reply.
export function ask(operation: string, parameters: string): string {
  const call = String.UTF8.encode(
    '{"jsonrpc":"2.0","id":1,"method":"invoke.call","params":{"operation":"' +
      operation + '","arguments":' + parameters + "}}",
  );
  const pair = heap.alloc(8);
  host_invoke(changetype<usize>(call), call.byteLength, pair);
  return String.UTF8.decodeUnsafe(load<u32>(pair), load<u32>(pair, 4));
}

export function invoke(
  at: usize, size: usize, answer: (operation: string, parameters: string) => string,
): usize {
  const call = String.UTF8.decodeUnsafe(at, size);
  const parameters = member(call, "params");
  const operation = member(parameters, "operation");
  const result = answer(operation.substring(1, operation.length - 1), member(parameters, "arguments"));
  const status = result.length
    ? '{"status":"ok","operation_result":' + result + "}"
    : '{"status":"failed","reasonCode":"PLUGIN","reason":"it has no answer"}';
  const out = String.UTF8.encode(
    '{"jsonrpc":"2.0","id":' + member(call, "id") + ',"result":' + status + "}",
  );
  const kept = heap.alloc(out.byteLength + 1);
  memory.copy(kept, changetype<usize>(out), out.byteLength);
  const pair = heap.alloc(8);
  store<u32>(pair, <u32>kept);
  store<u32>(pair, <u32>out.byteLength, 4);
  return pair;
}
