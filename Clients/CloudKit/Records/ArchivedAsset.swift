import Foundation
import RecordModel

/// An asset in an archive: the location of its file, and what the server has of it.
struct ArchivedAsset {
    /// The path of the file; empty if there is none here.
    var file: String
    /// What the server has; `nil` if nothing was uploaded yet.
    var content: Asset?
    /// Whether the file is the user's.
    var isLocal: Bool

    init(file: String, content: Asset?, isLocal: Bool) {
        self.file = file
        self.content = content
        self.isLocal = isLocal
    }

    /// Makes the archived asset; an empty or foreign hash means that the server has nothing.
    init(file: String, sha256: [UInt8], size: Int64, isLocal: Bool) {
        let isKnown = sha256.count == Asset.hashBytes && size >= 0
        self.init(file: file, content: isKnown ? Asset(sha256: sha256, size: size) : nil, isLocal: isLocal)
    }

    /// The file; `nil` also if it was a file of the cache that has gone since, though what the
    /// server has is known.
    var fileURL: URL? {
        let hasFile =
            !self.file.isEmpty && (self.isLocal || FileManager.default.fileExists(atPath: self.file))
        return hasFile ? URL(fileURLWithPath: self.file) : nil
    }

    var sha256: [UInt8] { self.content?.sha256 ?? [] }
    var size: Int64 { self.content?.size ?? 0 }
}

/// An asset that is archived by itself.
extension ArchivedAsset {
    var parts: [Field] {
        [
            Field("file", .string(self.file)),
            Field("isLocal", .int64(self.isLocal ? 1 : 0)),
            Field("sha256", .bytes(self.sha256)),
            Field("size", .int64(self.size)),
        ]
    }

    /// Reads the body; `nil` if it is not that of an asset.
    init?(_ body: ArchivedBody) {
        guard let file = body.text("file"), let sha256 = body.bytes("sha256"), let size = body.integer("size")
        else { return nil }
        self.init(file: file, sha256: sha256, size: size, isLocal: body.integer("isLocal") == 1)
    }
}
