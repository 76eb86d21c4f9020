import Foundation
import Testing

/// The tables of `Protocol/README.md` and of `Protocol/registry.json`, to compare them with each other.
struct Specification {
    struct Registry: Decodable {
        struct Limit: Decodable {
            let name: String
            let `default`: Int
            let unit: String
            let configurable: Bool
            /// What everybody shares, in the words of section 10.2; `nil` if the limit bounds nothing of it.
            let resources: [String]?
        }

        struct Operation: Decodable {
            enum CodingKeys: String, CodingKey {
                case name, number, mutating, pages, codes
                case requestID = "request_id"
            }

            let name: String
            /// Of its field in `Request`.
            let number: Int
            let mutating: Bool
            let requestID: Bool
            /// What carries the place of the next page; `nil` if there are no pages.
            let pages: String?
            /// Beside those of all operations.
            let codes: [Int]
        }

        struct ErrorCode: Decodable {
            let number: Int
        }

        enum CodingKeys: String, CodingKey {
            case limits, operations
            case errorCodes = "error_codes"
            case operationCodes = "operation_codes"
        }

        let limits: [Limit]
        let operations: [Operation]
        let errorCodes: [ErrorCode]
        /// Those that every operation may end with.
        let operationCodes: [Int]
    }

    let document: Document
    let registry: Registry

    static func read() throws -> Specification {
        let folder = SourceTree.root.appendingPathComponent("Protocol")
        func data(_ name: String) throws -> Data {
            try Data(contentsOf: folder.appendingPathComponent(name))
        }
        return Specification(
            document: Document(
                path: "Protocol/README.md",
                text: String(decoding: try data("README.md"), as: UTF8.self)
            ),
            registry: try JSONDecoder().decode(Registry.self, from: data("registry.json"))
        )
    }

    /// The rows of the table with this first line, a text for each column.
    func rows(_ columns: String...) throws -> [[String: String]] {
        let lines = self.document.text.split(separator: "\n", omittingEmptySubsequences: false)
        let head = "| " + columns.joined(separator: " | ") + " |"
        let start = try #require(lines.firstIndex { $0 == head }, "no table \(head)")
        let rows = lines[(start + 2)...].prefix { $0.hasPrefix("|") }
        return try rows.map { line in
            let cells = line.dropFirst().dropLast().components(separatedBy: " | ")
                .map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == columns.count, "cells of \(line)")
            return Dictionary(uniqueKeysWithValues: zip(columns, cells))
        }
    }

    /// What stands between backticks.
    static func names(in cell: String) -> [String] {
        cell.matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    private static let units = [
        "bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
        "ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "day": 86_400_000, "days": 86_400_000,
    ]

    /// The number that a cell tells, in a limit's unit; `nil` if it tells none.
    static func number(_ text: some StringProtocol, unit: String) -> Int? {
        if text == "none" { return 0 }
        let words = text.split(separator: " ")
        guard let first = words.first, let number = Int(String(first.filter { $0 != "," })) else {
            return nil
        }
        guard words.count > 1 else { return number }
        guard words.count == 2, let factor = Self.units[String(words[1])] else { return nil }
        return number * factor / (unit == "seconds" ? 1_000 : 1)
    }
}
