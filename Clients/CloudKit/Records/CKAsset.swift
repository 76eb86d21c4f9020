public import Foundation
internal import RecordModel
import Synchronization

/// A file that a field of a record holds.
///
/// A save uploads the file, which must stay as it is until the save has ended; afterwards the asset still points at it. A fetch downloads the
/// file into a cache: read it, copy it or move it away, but don't keep its path. It stays as long as the asset does, and for some
/// minutes after that.
open class CKAsset: NSObject, NSSecureCoding {
    private struct State {
        var fileURL: URL?
        /// What the server has; `nil`: nothing was uploaded yet.
        var content: Asset?
        /// Keeps a file of the cache.
        var lease: AssetLease?
    }

    private let state: Mutex<State>
    /// Whether the file is the user's: a save looks at what is in it then.
    let isLocal: Bool

    /// The file; `nil` when its content is not on this machine.
    open var fileURL: URL? { self.state.withLock { $0.fileURL } }

    /// Creates an asset from a file, which must stay unchanged until the record is saved.
    public init(fileURL: URL) {
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

    /// Makes an asset out of an archive.
    init(_ archive: ArchivedAsset) {
        self.state = Mutex(State(fileURL: archive.fileURL, content: archive.content))
        self.isLocal = archive.isLocal
        super.init()
    }

    /// Reads an archived asset; `nil` when the archive has none.
    ///
    /// A fetched file that is gone since makes an asset without one.
    public required init?(coder: NSCoder) {
        guard let body = coder.archivedBody(), let archive = ArchivedAsset(body) else { return nil }
        self.state = Mutex(State(fileURL: archive.fileURL, content: archive.content))
        self.isLocal = archive.isLocal
        super.init()
    }

    /// Writes into an archive where the file is and what the server has, not what is in the file.
    open func encode(with coder: NSCoder) { coder.encodeBody(self.archive.parts) }

    /// Whether assets may be read where secure coding is required: always.
    open class var supportsSecureCoding: Bool { true }

    /// What an archive keeps of the asset.
    var archive: ArchivedAsset {
        self.state.withLock { state in
            ArchivedAsset(file: state.fileURL?.path ?? "", content: state.content, isLocal: self.isLocal)
        }
    }

    /// Bytes of the file as the server has it; `nil` until the asset was saved or fetched.
    ///
    /// Beyond Apple's surface.
    public var fileSize: Int64? { self.content?.size }

    /// What the server has; `nil`: nothing was uploaded yet.
    var content: Asset? { self.state.withLock { $0.content } }

    /// What a save sends: a file of the user's is known only when it has been read.
    var valueToSend: Asset { self.isLocal ? .unread : self.content ?? .unread }

    /// Notes that the server has the user's file.
    func uploaded(as content: Asset) { self.state.withLock { $0.content = content } }

    /// Notes where the server's file is on this machine.
    func downloaded(to file: CachedAsset) {
        self.state.withLock { state in
            state.fileURL = file.url
            state.lease = file.lease
        }
    }

    /// The asset for people to read.
    open override var description: String {
        "<CKAsset: fileURL=\(self.fileURL.map { "\($0)" } ?? "nil")>"
    }
}

// SAFETY: what changes is behind a mutex.
extension CKAsset: @unchecked Sendable {}

extension Asset {
    /// Stands for a file that was not read yet; no file has this hash.
    static let unread = Asset(sha256: Array(repeating: 0, count: Asset.hashBytes), size: 0)
}
