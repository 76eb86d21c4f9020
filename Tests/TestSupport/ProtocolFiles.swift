package import Foundation

/// The files beside the code that say what the code must do.
package enum ProtocolFiles {
    package static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Protocol")

    package static func json(_ path: String) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(contentsOf: self.folder.appendingPathComponent(path)))
    }

    package static func text(_ path: String) throws -> String {
        try String(contentsOf: self.folder.appendingPathComponent(path), encoding: .utf8)
    }
}

/// One case of `Protocol/Vectors`.
package struct Vector: Sendable, CustomStringConvertible {
    package var name: String
    package var message: String
    package var bytes: [UInt8]
    /// The message in the JSON form of Protocol Buffers; `nil` when the bytes must be refused.
    package var fields: Data?
    /// Names of the registry, and `why` for a body.
    package var error: [String: String]

    package var description: String { "\(self.message): \(self.name)" }

    package static let files = [
        "AssetData", "AssetOffsets", "Challenge", "Credit", "End", "Frame", "GoAway", "Hello", "Items",
        "Notification", "NotificationAck", "Progress", "Proof", "RecordFields", "Request", "Welcome",
    ]

    package static func all() throws -> [Vector] {
        try self.files.flatMap { file in
            let rows = try ProtocolFiles.json("Vectors/\(file).json") as? [[String: Any]] ?? []
            return try rows.map { row in
                Vector(
                    name: row["name"] as? String ?? "",
                    message: row["message"] as? String ?? "",
                    bytes: Self.bytes(hex: row["hex"] as? String ?? ""),
                    fields: try row["fields"].map { try JSONSerialization.data(withJSONObject: $0) },
                    error: row["error"] as? [String: String] ?? [:]
                )
            }
        }
    }

    package static func bytes(hex: String) -> [UInt8] {
        let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
