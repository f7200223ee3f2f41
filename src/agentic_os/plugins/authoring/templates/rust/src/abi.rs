//! The plugin ABI for Rust without crates: memory, finding members of JSON, calls to the host.
use std::alloc::{alloc, Layout};

#[repr(C)]
pub struct Text {
    at: *const u8,
    size: usize,
}

#[link(wasm_import_module = "aiii:bbb/bbb")]
extern "C" {
    #[link_name = "invoke-call"]
    fn host_invoke(at: *const u8, size: usize, reply: *mut Text);
}

#[export_name = "cabi_realloc"]
pub extern "C" fn cabi_realloc(old: *mut u8, old_size: usize, _align: usize, size: usize) -> *mut u8 {
    unsafe {
        let made = alloc(Layout::from_size_align_unchecked(size.max(1), 8));
        if old_size > 0 {
            std::ptr::copy_nonoverlapping(old, made, old_size.min(size));
        }
        made
    }
}

#[export_name = "aiii-plugin-bbb-protocol-version"]
pub extern "C" fn protocol_version() -> i32 {
    2
}

#[export_name = "aiii-plugin-smoke"]
pub extern "C" fn smoke() -> i32 {
    1
}

/// Where the value that begins at `at` ends.
fn skip_value(json: &[u8], mut at: usize) -> usize {
    let (mut depth, mut quoted) = (0, false);
    while at < json.len() {
        match (quoted, json[at]) {
            (true, b'\\') => at += 1,
            (true, b'"') => {
                quoted = false;
                if depth == 0 {
                    return at + 1;
                }
            }
            (true, _) => {}
            (false, b'"') => quoted = true,
            (false, b'{') | (false, b'[') => depth += 1,
            (false, b'}') | (false, b']') => {
                if depth == 0 {
                    return at;
                }
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            (false, b',') if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// The value of a member of an object as the host wrote it: no blanks; empty where there is none.
pub fn member<'a>(object: &'a str, name: &str) -> &'a str {
    let json = object.as_bytes();
    let mut at = 1;
    while at < json.len() && json[at] != b'}' {
        let end = skip_value(json, at);
        let value_end = skip_value(json, end + 1);
        if &object[at + 1..end - 1] == name {
            return &object[end + 1..value_end];
        }
        at = value_end + 1;
    }
    ""
}

/// Ask the host for an operation; `arguments` is a JSON object. Returns the whole reply.
#[allow(dead_code)]
pub fn ask(operation: &str, arguments: &str) -> String {
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"invoke.call","params":{{"operation":"{}","arguments":{}}}}}"#,
        operation, arguments
    );
    let mut reply = Text { at: std::ptr::null(), size: 0 };
    unsafe {
        host_invoke(call.as_ptr(), call.len(), &mut reply);
        String::from_utf8_lossy(std::slice::from_raw_parts(reply.at, reply.size)).into_owned()
    }
}

#[export_name = "plugin-invoke"]
pub extern "C" fn plugin_invoke(at: *const u8, size: usize) -> *const Text {
    let call = unsafe { std::str::from_utf8(std::slice::from_raw_parts(at, size)).unwrap_or("{}") };
    let parameters = member(call, "params");
    let operation = member(parameters, "operation").trim_matches('"');
    let result = match crate::answer(operation, member(parameters, "arguments")) {
        Ok(value) => format!(r#"{{"status":"ok","operation_result":{}}}"#, value),
        Err(why) => format!(
            r#"{{"status":"failed","reasonCode":"PLUGIN","reason":"{}"}}"#,
            why.replace(['"', '\\'], " ")
        ),
    };
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}}}"#, member(call, "id"), result);
    let answer = Box::leak(answer.into_boxed_str());
    Box::leak(Box::new(Text { at: answer.as_ptr(), size: answer.len() }))
}
