//! A plugin in Rust: it gives its arguments back. Change `answer`.
mod abi;

/// The result of one operation as JSON, or why there is none.
pub fn answer(_operation: &str, arguments: &str) -> Result<String, String> {
    Ok(arguments.to_string())
}
