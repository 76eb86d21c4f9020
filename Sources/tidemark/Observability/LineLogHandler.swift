import Foundation
import Logging
import RecordServer

/// Writes each event as one line.
struct LineLogHandler: LogHandler {
    let label: String
    let format: Settings.LogFormat
    /// Whether each line begins with its priority, which the journal takes off.
    let hasPriorities: Bool
    /// Writes a line, including its line break.
    ///
    /// Called from any thread.
    let write: @Sendable (String) -> Void
    /// Gets every line too, as JSON; `nil` if there is none.
    let file: TurnedLog?
    /// `nil` for the level that all loggers of the process share.
    private var ownLevel: Logger.Level?
    private let sharedLevel: LogLevel
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(
        label: String,
        format: Settings.LogFormat,
        level: LogLevel = LogLevel(.info),
        file: TurnedLog? = nil,
        hasPriorities: Bool = Journal.isBehindErrors,
        write: @escaping @Sendable (String) -> Void = StandardError.write
    ) {
        self.label = label
        self.format = format
        self.hasPriorities = hasPriorities
        self.sharedLevel = level
        self.file = file
        self.write = write
    }

    var logLevel: Logger.Level {
        get { self.ownLevel ?? self.sharedLevel.current }
        set { self.ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let provided = self.metadataProvider?.get() ?? [:]
        var metadata = self.metadata.merging(provided) { $1 }.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { metadata[LogKeys.error] = "\(error)" }
        let line = LogLine(
            time: Date(),
            level: event.level,
            logger: self.label,
            event: event.message.description,
            metadata: metadata
        )
        self.file?.write(line.json)
        let text = self.format == .json ? line.json : line.text
        self.write(self.hasPriorities ? Journal.prioritized(text, event.level) : text)
    }
}

extension Settings {
    /// Makes the log of a server with these settings, on standard error and in a file.
    ///
    /// The level is that of the logger and its copies, also when it changes.
    func makeLogger(level: LogLevel, file: TurnedLog? = nil) -> Logger {
        Logger(label: "tidemark") {
            LineLogHandler(label: $0, format: self.logFormat, level: level, file: file)
        }
    }

    /// Opens the file of the log; `nil` if there is none.
    ///
    /// - Throws: `cannotCreate`.
    func openLogFile() throws(CommandFailure) -> TurnedLog? {
        guard let path = self.logFilePath else { return nil }
        return try TurnedLog(path: path, bytesMax: self.logFileBytesMax)
    }
}

enum StandardError {
    /// Writes a line that is not the logger's, with its priority if the journal reads it.
    static func write(_ line: String, level: Logger.Level) {
        self.write(Journal.isBehindErrors ? Journal.prioritized(line, level) : line)
    }

    /// Writes a line in one system call, so that lines of several threads never mix.
    ///
    /// If the line cannot be written it is lost, and the server continues.
    @Sendable
    static func write(_ line: String) {
        let bytes = Array(line.utf8)
        _ = Foundation.write(STDERR_FILENO, bytes, bytes.count)
    }
}
