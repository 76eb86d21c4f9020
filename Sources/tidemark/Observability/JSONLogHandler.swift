import Foundation
import Logging

/// One JSON object a line on standard error, for log collectors.
struct JSONLogHandler: LogHandler {
    private struct Line: Encodable {
        let time: String
        let level: String
        let logger: String
        let message: String
        let metadata: [String: String]
    }

    let label: String
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(label: String) {
        self.label = label
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let provided = self.metadataProvider?.get() ?? [:]
        let merged = self.metadata.merging(provided) { $1 }.merging(event.metadata ?? [:]) { $1 }
        let line = Line(
            time: Date().formatted(.iso8601.time(includingFractionalSeconds: true)),
            level: event.level.rawValue,
            logger: self.label,
            message: event.message.description,
            metadata: merged.mapValues { "\($0)" }
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(line) else { return }
        FileHandle.standardError.write(data + Data("\n".utf8))
    }
}
