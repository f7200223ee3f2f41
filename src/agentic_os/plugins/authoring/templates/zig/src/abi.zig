//! The plugin ABI for Zig: memory, JSON by the standard library, calls to the host.
const std = @import("std");

pub const Text = extern struct { at: [*]const u8, size: usize };
pub const Answer = fn ([]const u8, std.json.Value) anyerror!std.json.Value;

var arena = std.heap.ArenaAllocator.init(std.heap.wasm_allocator);

extern "aiii:bbb/bbb" fn @"invoke-call"(at: [*]const u8, size: usize, reply: *Text) void;

export fn cabi_realloc(old: [*]u8, old_size: usize, alignment: usize, size: usize) [*]u8 {
    _ = alignment;
    const made = arena.allocator().alloc(u8, @max(size, 1)) catch @trap();
    const kept = @min(old_size, size);
    @memcpy(made[0..kept], old[0..kept]);
    return made.ptr;
}

export fn @"aiii-plugin-bbb-protocol-version"() i32 {
    return 2;
}

export fn @"aiii-plugin-smoke"() i32 {
    return 1;
}

export fn @"cabi_post_plugin-invoke"(answer: *const Text) void {
    _ = answer;
    _ = arena.reset(.retain_capacity);
}

/// Ask the host for an operation; the reply is the whole JSON-RPC text.
pub fn ask(operation: []const u8, target: ?[]const u8, arguments: anytype) ![]const u8 {
    const call = .{
        .jsonrpc = "2.0",
        .id = 1,
        .method = "invoke.call",
        .params = .{ .operation = operation, .target = target, .arguments = arguments },
    };
    const text = try std.json.Stringify.valueAlloc(arena.allocator(), call, .{});
    var reply: Text = undefined;
    @"invoke-call"(text.ptr, text.len, &reply);
    return reply.at[0..reply.size];
}

/// Read a call, let the plugin answer it, and write the answer.
pub fn invoke(text: []const u8, comptime answer: Answer) *const Text {
    const memory = arena.allocator();
    const call = std.json.parseFromSliceLeaky(std.json.Value, memory, text, .{}) catch @trap();
    const parameters = call.object.get("params").?.object;
    const id = call.object.get("id").?;
    const out = if (answer(
        parameters.get("operation").?.string,
        parameters.get("arguments").?,
    )) |result| std.json.Stringify.valueAlloc(memory, .{
        .jsonrpc = "2.0",
        .id = id,
        .result = .{ .status = "ok", .operation_result = result },
    }, .{}) else |fault| std.json.Stringify.valueAlloc(memory, .{
        .jsonrpc = "2.0",
        .id = id,
        .result = .{ .status = "failed", .reason = @errorName(fault), .reasonCode = "PLUGIN" },
    }, .{});
    const said = out catch @trap();
    const pair = memory.create(Text) catch @trap();
    pair.* = .{ .at = said.ptr, .size = said.len };
    return pair;
}
