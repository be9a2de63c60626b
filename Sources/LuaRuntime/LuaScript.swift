package import ActivityModel
import CLuaBridge
package import SessionCore

/// Why a script did not load, for its author.
package struct ScriptLoadError: Error, Equatable {
    package var report: AuthorReport
}

/// A checked and loaded script, from which any number of sessions are made. Immutable, so threads may share it.
package final class LuaScript: Sendable {
    package let source: ScriptSource
    package let manifest: ScriptManifest
    /// The bridge allows an `ah_script` to be shared by threads: it never changes after loading.
    nonisolated(unsafe) let handle: OpaquePointer

    /// Loads a script within the budgets of one handler. Needs a stack of 8 MB or more.
    package init(_ source: ScriptSource, limits: Limits) throws(ScriptLoadError) {
        var report = ah_report()
        defer { ah_report_free(&report) }
        guard let handle = Self.load(source.files, ah_limits(limits), &report) else {
            throw ScriptLoadError(report: AuthorReport(report, activity: source.activity, handler: ""))
        }
        do throws(ManifestError) {
            manifest = try ScriptManifest(json: ah_script_manifest(handle).array)
        } catch {
            ah_script_free(handle)
            throw ScriptLoadError(
                report: AuthorReport(
                    activity: source.activity, code: "invalid_script", file: source.files.first?.name ?? "", line: 0,
                    message: "The activity's table cannot be described as JSON: \(error.message).", trace: "", handler: ""))
        }
        self.source = source
        self.handle = handle
    }

    deinit { ah_script_free(handle) }

    /// Joins all names and texts into one array, so that a single pointer keeps every source in place during the call.
    private static func load(_ files: [ScriptSource.File], _ limits: ah_limits, _ report: inout ah_report) -> OpaquePointer? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(files.reduce(0) { $0 + $1.name.utf8.count + $1.text.count })
        for file in files {
            bytes += Array(file.name.utf8)
            bytes += file.text
        }
        return bytes.withUnsafeBufferPointer { buffer in
            var offset = 0
            func take(_ count: Int) -> ah_bytes {
                defer { offset += count }
                return ah_bytes(base: buffer.baseAddress.map { $0 + offset }, count: count)
            }
            let sources = files.map { ah_source(name: take($0.name.utf8.count), text: take($0.text.count)) }
            var limits = limits
            return sources.withUnsafeBufferPointer { list in
                list.baseAddress.flatMap { ah_script_load($0, list.count, &limits, &report) }
            }
        }
    }
}

/// The scripts that were loaded lately, by the hash of their sources, shared by the workers of an engine.
///
/// It is bounded: what falls out lives on in the sessions that use it and is loaded again for the next one.
package final class ScriptShelf: Sendable {
    private struct Content {
        var scripts: [ScriptSource: LuaScript] = [:]
        var order: [ScriptSource] = []
    }

    private static let capacity = 64
    private let limits: Limits
    private let content = Guarded(Content())

    package init(limits: Limits) { self.limits = limits }

    /// The script of these sources, loaded now if it is not on the shelf. Needs a stack of 8 MB or more.
    package func script(_ source: ScriptSource) throws(ScriptLoadError) -> LuaScript {
        if let known = content.withLock({ $0.scripts[source] }) { return known }
        // Outside the lock: a script may take its whole budget to load, and other workers have sessions to serve.
        let loaded = try LuaScript(source, limits: limits)
        content.withLock { content in
            guard content.scripts.updateValue(loaded, forKey: source) == nil else { return }
            content.order.append(source)
            if content.order.count > Self.capacity { content.scripts[content.order.removeFirst()] = nil }
        }
        return loaded
    }
}
