import Foundation

/// A line of the server's log, in either of its formats.
///
/// The line is untrusted: its contents came from clients, and the file may be of another program. One
/// that has neither format is an event without level and time.
struct LogEntry: Hashable, Sendable {
    enum Level: String, CaseIterable, Comparable, Sendable {
        case trace
        case debug
        case info
        case notice
        case warning
        case error
        case critical

        static func < (left: Level, right: Level) -> Bool { left.order < right.order }

        private var order: Int {
            switch self {
            case .trace: 0
            case .debug: 1
            case .info: 2
            case .notice: 3
            case .warning: 4
            case .error: 5
            case .critical: 6
            }
        }
    }

    struct Pair: Hashable, Sendable {
        var key: String
        var value: String
    }

    /// Bounds on what is read of a line.
    static let lineBytesMax = 64 * 1_024
    static let pairsMax = 64

    /// As the line has it; empty if it has none.
    var time = ""
    var level: Level?
    var message: String
    /// The first of its keys.
    var pairs: [Pair] = []

    init(line: some StringProtocol) {
        let line = String(line)
        self.message = line
        guard line.utf8.count <= Self.lineBytesMax else {
            self.message = String(Shown.beginning(of: line, bytes: 1_024)) + "…"
            return
        }
        if line.hasPrefix("{") { self.readJSON(line) } else { self.readText(line) }
    }

    subscript(key: String) -> String? { self.pairs.first { $0.key == key }?.value }

    // MARK: JSON

    private mutating func readJSON(_ line: String) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
            let message = object["message"] as? String
        else { return }
        self.message = message
        self.time = object["time"] as? String ?? ""
        self.level = (object["level"] as? String).flatMap { Level(rawValue: $0) }
        let metadata = object["metadata"] as? [String: Any] ?? [:]
        self.pairs = metadata.sorted { $0.key < $1.key }.prefix(Self.pairsMax).map { key, value in
            Pair(key: key, value: Self.text(of: value))
        }
    }

    private static func text(of value: Any) -> String {
        if let text = value as? String { return text }
        let data = try? JSONSerialization.data(
            withJSONObject: value,
            options: [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
        )
        return data.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    // MARK: Text

    /// Reads `TIME LEVEL EVENT key=value key="a value"`.
    private mutating func readText(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count == 3, words[0].first?.isNumber == true, words[0].contains("T"),
            let level = Level(rawValue: String(words[1]))
        else { return }
        self.time = String(words[0])
        self.level = level
        var rest = words[2]
        guard let first = rest.firstMatch(of: /\ [A-Za-z_][A-Za-z0-9_.]*=/) else {
            self.message = String(rest)
            return
        }
        self.message = String(rest[..<first.range.lowerBound])
        rest = rest[first.range.lowerBound...].dropFirst()
        while self.pairs.count < Self.pairsMax, let equals = rest.firstIndex(of: "=") {
            let key = String(rest[..<equals])
            rest = rest[rest.index(after: equals)...]
            let value = Self.value(&rest)
            self.pairs.append(Pair(key: key, value: value))
            rest = rest.drop { $0 == " " }
        }
    }

    /// Takes a value from the front: one in quotes, or up to the next blank.
    private static func value(_ rest: inout Substring) -> String {
        guard rest.first == "\"" else {
            let value = rest.prefix { $0 != " " }
            rest = rest[value.endIndex...]
            return String(value)
        }
        var end = rest.index(after: rest.startIndex)
        while end < rest.endIndex, rest[end] != "\"" {
            if rest[end] == "\\" { end = rest.index(after: end) }
            if end < rest.endIndex { end = rest.index(after: end) }
        }
        let isClosed = end < rest.endIndex
        let quoted = rest[...(isClosed ? end : rest.index(before: rest.endIndex))]
        rest = isClosed ? rest[rest.index(after: end)...] : ""
        // The quotes and escapes are those of JSON.
        let text = try? JSONSerialization.jsonObject(
            with: Data(quoted.utf8),
            options: .fragmentsAllowed
        )
        return text as? String ?? String(quoted)
    }
}

/// A filter of log lines.
struct LogFilter: Hashable, Sendable {
    /// The lowest level; `nil` for every line, also those without one.
    var level: LogEntry.Level?
    /// A part of the event, or of a value.
    var text: String?
    var user: String?
    /// The beginning of a request's ID.
    var request: String?

    func admits(_ entry: LogEntry) -> Bool {
        if let level = self.level {
            guard let own = entry.level, own >= level else { return false }
        }
        if let user = self.user, entry["user"] != user { return false }
        if let request = self.request, entry["request"]?.hasPrefix(request.lowercased()) != true {
            return false
        }
        guard let text = self.text?.lowercased() else { return true }
        return entry.message.lowercased().contains(text)
            || entry.pairs.contains { "\($0.key)=\($0.value)".lowercased().contains(text) }
    }

    /// The filter as items of a URL.
    var items: [PageURL.Item] {
        let items = [
            ("level", self.level?.rawValue), ("text", self.text), ("user", self.user),
            ("request", self.request),
        ]
        return items.compactMap { name, value in value.map { PageURL.Item(name, $0) } }
    }

    init(_ query: FormItems) {
        self.level = query["level"].flatMap { LogEntry.Level(rawValue: $0) }
        self.text = query["text"]
        self.user = query["user"]
        self.request = query["request"]
    }
}
