//! A plugin in Zig: it gives its arguments back. Change `answer`.
const std = @import("std");
const abi = @import("abi.zig");

/// The result of one operation, or an error whose name the caller is told.
fn answer(operation: []const u8, arguments: std.json.Value) !std.json.Value {
    _ = operation;
    return arguments;
}

export fn @"plugin-invoke"(at: [*]const u8, size: usize) *const abi.Text {
    return abi.invoke(at[0..size], answer);
}

comptime {
    _ = abi;
}
