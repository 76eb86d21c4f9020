import Foundation
import Synchronization

/// The record of what people changed from pages of the console: a file of JSON lines.
///
/// ```text
/// {"id":"5b0c…","at":1795680000000,"person":"ops","container":"…","environment":"production","what":"…"}
/// {"id":"5b0c…","at":1795680000120,"outcome":"done"}
/// ```
///
/// A change has a line before it and one after it, so that one which a crash interrupted is there as
/// well. If the first line cannot be written, the change is not made.
package final class ConsoleAudit: Sendable {
    /// The outcome of a change.
    package enum Outcome: String, Codable, Sendable {
        case done
        case refused
        /// Whether the change was made is unknown.
        case unknown
    }

    /// The file cannot be written.
    struct Failure: Error {}

    /// A line of the file; the first of a change has all but the last two members.
    private struct Line: Codable {
        var id: String
        var at: Int64
        var person: String?
        var container: String?
        var environment: String?
        var what: String?
        var outcome: Outcome?
        var text: String?
    }

    /// A change as the page shows it.
    struct Entry: Hashable, Sendable {
        var atMilliseconds: Int64
        var person: String
        var container: String
        var environment: String
        var what: String
        /// `nil` if the console ended before it was known.
        var outcome: Outcome?
        var text: String
    }

    /// A change that was begun.
    struct Ticket: Sendable {
        fileprivate let id: String
        fileprivate let sentence: String
    }

    /// Beyond this size the file is renamed, and replaces the earlier one of that name.
    static let fileBytesMax = 8 * 1_024 * 1_024
    /// The end of the file that a page reads.
    private static let readBytesMax = 1_024 * 1_024

    private let path: String
    private let person: String
    private let now: @Sendable () -> Int64
    /// Gets a sentence for each change that was made.
    private let echo: @Sendable (String) -> Void
    /// Held while a line is appended.
    private let lock = Mutex(())

    package init(
        path: String,
        person: String,
        now: @escaping @Sendable () -> Int64,
        echo: @escaping @Sendable (String) -> Void
    ) {
        self.path = path
        self.person = person
        self.now = now
        self.echo = echo
    }

    // MARK: Writing

    /// Writes down that a change is about to be made.
    ///
    /// `what` stands within a sentence; `sentence` is for the terminal, behind the name of the person.
    ///
    /// - Returns: What `end` takes.
    /// - Throws: `Failure`: then the change should not be made.
    func begin(
        _ what: String,
        container: String,
        environment: String,
        sentence: String
    ) throws(Failure) -> Ticket {
        let ticket = Ticket(id: Secret.make(), sentence: "\(self.person) \(sentence)")
        try self.append(
            Line(
                id: ticket.id,
                at: self.now(),
                person: self.person,
                container: container,
                environment: environment,
                what: what
            )
        )
        return ticket
    }

    /// Writes down what became of it; `text` says why it was refused.
    func end(_ ticket: Ticket, _ outcome: Outcome, text: String = "") {
        let line = Line(id: ticket.id, at: self.now(), outcome: outcome, text: text.isEmpty ? nil : text)
        // Without this line the page shows the outcome as unknown.
        try? self.append(line)
        if outcome == .done { self.echo(ticket.sentence) }
    }

    private func append(_ line: Line) throws(Failure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(line) else { throw Failure() }
        let bytes = data + Data("\n".utf8)
        let isWritten = self.lock.withLock { _ in
            self.makeRoom()
            // Appended as a whole: another console may write to the same file.
            let file = open(self.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard file >= 0 else { return false }
            defer { close(file) }
            let handle = FileHandle(fileDescriptor: file, closeOnDealloc: false)
            do {
                try handle.write(contentsOf: bytes)
                try handle.synchronize()
                return true
            } catch {
                return false
            }
        }
        if !isWritten { throw Failure() }
    }

    private func makeRoom() {
        let attributes = try? FileManager.default.attributesOfItem(atPath: self.path)
        let size = (attributes?[.size] as? NSNumber)?.intValue ?? 0
        guard size >= Self.fileBytesMax else { return }
        rename(self.path, self.path + ".1")
    }

    // MARK: Reading

    /// The last changes, the newest first; lines that are none are left out.
    func entries(limit: Int) -> [Entry] {
        var entries: [Entry] = []
        var offsets: [String: Int] = [:]
        for text in self.lastLines() {
            guard let line = try? JSONDecoder().decode(Line.self, from: Data(text)) else { continue }
            if let outcome = line.outcome {
                guard let offset = offsets[line.id] else { continue }
                entries[offset].outcome = outcome
                entries[offset].text = line.text ?? ""
            } else {
                offsets[line.id] = entries.count
                entries.append(
                    Entry(
                        atMilliseconds: line.at,
                        person: line.person ?? "",
                        container: line.container ?? "",
                        environment: line.environment ?? "",
                        what: line.what ?? "",
                        outcome: nil,
                        text: ""
                    )
                )
            }
        }
        return Array(entries.reversed().prefix(limit))
    }

    private func lastLines() -> [Data.SubSequence] {
        guard let file = FileHandle(forReadingAtPath: self.path) else { return [] }
        defer { try? file.close() }
        guard let end = try? file.seekToEnd() else { return [] }
        let start = end > UInt64(Self.readBytesMax) ? end - UInt64(Self.readBytesMax) : 0
        guard (try? file.seek(toOffset: start)) != nil,
            let data = try? file.read(upToCount: Self.readBytesMax)
        else { return [] }
        let lines = data.split(separator: UInt8(ascii: "\n"))
        // The first may have lost its beginning.
        return Array(start == 0 ? lines[...] : lines.dropFirst())
    }
}
