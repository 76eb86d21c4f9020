import Foundation
import Logging
import Synchronization

/// The last lines of a server's log.
final class TestLog: Sendable {
    private static let linesMax = 1_000

    private let lines = Mutex<[String]>([])

    /// The lines, from the oldest.
    var text: String { self.lines.withLock { $0.map { $0 + "\n" }.joined() } }

    /// Makes a logger that passes its lines on to another logger, and keeps them here.
    func logger(passingTo other: Logger?) -> Logger {
        var logger = Logger(label: "tidemark") { _ in Handler(log: self, other: other) }
        logger.logLevel = .debug
        return logger
    }

    private func append(_ line: String) {
        self.lines.withLock { lines in
            if lines.count == Self.linesMax { lines.removeFirst(Self.linesMax / 2) }
            lines.append(line)
        }
    }

    private struct Handler: LogHandler {
        let log: TestLog
        let other: Logger?
        var logLevel = Logger.Level.debug
        var metadata: Logger.Metadata = [:]
        var metadataProvider: Logger.MetadataProvider?

        init(log: TestLog, other: Logger?) {
            self.log = log
            self.other = other
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = self.metadata.merging(event.metadata ?? [:]) { $1 }
            let pairs = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
            let time = Date().formatted(.iso8601.time(includingFractionalSeconds: true))
            self.log.append("\(time) \(event.level) \(event.message)\(pairs)")
            self.other?.log(level: event.level, event.message, metadata: metadata)
        }
    }
}
