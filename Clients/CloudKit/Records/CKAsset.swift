public import Foundation
internal import RecordModel
import Synchronization

/// A file in a field of a record.
///
/// ```swift
/// photo["image"] = CKAsset(fileURL: file)
/// try await database.save(photo)
/// let fetched = try await database.record(for: photo.recordID)
/// if let url = (fetched["image"] as? CKAsset)?.fileURL { print(try Data(contentsOf: url).count) }
/// ```
///
/// A save uploads the file, which must not change until the save has ended. After the save the
/// asset still points at that file. A fetch downloads the file into a cache. Read it, copy it or
/// move it away, but do not keep its path: the file stays as long as the asset, and for some
/// minutes after that.
///
/// - Source: Apple's `CKAsset`.
open class CKAsset: NSObject, NSSecureCoding {
    private struct State {
        var fileURL: URL?
        /// What the server has; `nil` if nothing was uploaded yet.
        var content: Asset?
        /// Keeps the file in the cache.
        var lease: AssetLease?
    }

    private let state: Mutex<State>
    /// Whether the file is the user's: a save reads its bytes then.
    let isLocal: Bool

    /// The file; `nil` if its content is not on this machine.
    open var fileURL: URL? { self.state.withLock { $0.fileURL } }

    /// Creates an asset from a file.
    ///
    /// - Parameter fileURL: The URL of a file, which must stay unchanged until the record is saved.
    ///   The save fails with `assetFileNotFound` if there is none, and with `invalidArguments` for
    ///   a folder or a URL of another kind.
    public required init(fileURL: URL) {
        self.state = Mutex(State(fileURL: fileURL))
        self.isLocal = true
        super.init()
    }

    /// Makes an asset that the server has.
    init(_ content: Asset, fileURL: URL? = nil) {
        self.state = Mutex(State(fileURL: fileURL, content: content))
        self.isLocal = false
        super.init()
    }

    /// Makes an asset from an archive.
    init(_ archive: ArchivedAsset) {
        self.state = Mutex(State(fileURL: archive.fileURL, content: archive.content))
        self.isLocal = archive.isLocal
        super.init()
    }

    /// Reads an archived asset; `nil` if the archive has none.
    ///
    /// If a fetched file has gone since, the asset has no file.
    public required init?(coder: NSCoder) {
        guard let body = coder.archivedBody(), let archive = ArchivedAsset(body) else { return nil }
        self.state = Mutex(State(fileURL: archive.fileURL, content: archive.content))
        self.isLocal = archive.isLocal
        super.init()
    }

    /// Writes the location of the file and what the server has, not the bytes of the file.
    open func encode(with coder: NSCoder) { coder.encodeBody(self.archive.parts) }

    /// Always `true`: assets can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// The archived parts of the asset.
    var archive: ArchivedAsset {
        self.state.withLock { state in
            ArchivedAsset(file: state.fileURL?.path ?? "", content: state.content, isLocal: self.isLocal)
        }
    }

    /// The size of the file in bytes, as the server has it; `nil` until the asset was saved or
    /// fetched.
    ///
    /// Beyond Apple's API.
    public var fileSize: Int64? { self.content?.size }

    /// What the server has; `nil` if nothing was uploaded yet.
    var content: Asset? { self.state.withLock { $0.content } }

    /// The value that a save sends: the content of a user's file is known only when it has been
    /// read.
    var valueToSend: Asset { self.isLocal ? .unread : self.content ?? .unread }

    /// Notes that the server has the user's file.
    func uploaded(as content: Asset) { self.state.withLock { $0.content = content } }

    /// Notes the location of the server's file on this machine.
    func downloaded(to file: CachedAsset) {
        self.state.withLock { state in
            state.fileURL = file.url
            state.lease = file.lease
        }
    }

    /// A description of the asset for people.
    open override var description: String {
        "<CKAsset: fileURL=\(self.fileURL.map { "\($0)" } ?? "nil")>"
    }
}

// SAFETY: all mutable state is behind a mutex.
extension CKAsset: @unchecked Sendable {}

extension Asset {
    /// Stands for a file that was not read yet; no file has this hash.
    static let unread = Asset(sha256: Array(repeating: 0, count: Asset.hashBytes), size: 0)
}
