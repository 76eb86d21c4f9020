import Administration
import Console
import Foundation

/// The content of the file `lock`: the number of the process and, once it serves, a line for each
/// of the others.
///
/// ```text
/// 4711
/// listen 127.0.0.1:7430
/// version 0.1.0
/// format 1
/// since 2026-11-23T20:00:00Z
/// log file /var/log/tidemark.log      or: log journal tidemark.service
/// unsafe fsync full_page_writes       what PostgreSQL has off
/// ```
struct LockHolder: Hashable, Sendable {
    /// The lines of a server that serves.
    struct Service: Hashable, Sendable {
        var listen: ListenAddress
        var version: String
        var format: Int
        var since: String
        var log = LogDestination.unknown
        /// Settings of PostgreSQL that are off, and without which saves are lost or damaged.
        var unsafeSettings: [String] = []
    }

    /// More than a server writes.
    private static let bytesMax = 4_096

    var process: Int32
    /// `nil` before the server listens, and for a restore.
    var service: Service?

    init(process: Int32, service: Service? = nil) {
        self.process = process
        self.service = service
    }

    /// The process that has, or had, the folder's lock.
    ///
    /// Fails if the file does not tell.
    init?(in folder: DataFolder) {
        let file = DataFolderLock.reading(in: folder)
        guard let bytes = try? file?.read(upToCount: Self.bytesMax) else { return nil }
        self.init(String(decoding: bytes, as: UTF8.self))
    }

    init?(_ text: String) {
        let lines = text.split(separator: "\n")
        guard let first = lines.first, let process = Int32(first) else { return nil }
        var values: [Substring: String] = [:]
        for line in lines.dropFirst() {
            guard let blank = line.firstIndex(of: " ") else { continue }
            values[line[..<blank]] = String(line[line.index(after: blank)...])
        }
        self.process = process
        guard let listen = values["listen"].flatMap({ ListenAddress($0) }), let version = values["version"],
            let format = values["format"].flatMap({ Int($0) }), let since = values["since"]
        else { return }
        self.service = Service(
            listen: listen,
            version: version,
            format: format,
            since: since,
            log: values["log"].flatMap { LogDestination(line: $0) } ?? .unknown,
            unsafeSettings: values["unsafe"].map { $0.split(separator: " ").map(String.init) } ?? []
        )
    }

    var text: String {
        guard let service else { return "\(self.process)\n" }
        return """
            \(self.process)
            listen \(service.listen)
            version \(service.version)
            format \(service.format)
            since \(service.since)
            \(service.log.line.map { "log \($0)\n" } ?? "")\(service.unsafeLine)
            """
    }
}

extension LockHolder.Service {
    fileprivate var unsafeLine: String {
        self.unsafeSettings.isEmpty ? "" : "unsafe \(self.unsafeSettings.joined(separator: " "))\n"
    }
}
