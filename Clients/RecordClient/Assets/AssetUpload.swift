package import FileIO
package import RecordModel
package import WireProtocol

/// Assets to bring to a server, and where their bytes come from.
package struct AssetUpload: Sendable {
    package var scope: DatabaseScope
    /// No two the same.
    package var assets: [Asset]
    /// In the shared database: the zone in which a record is to name them.
    package var zone: ZoneID?
    /// Fills the memory with bytes of an asset, from an offset on.
    ///
    /// Called on a thread for files, one call at a time.
    package var read:
        @Sendable (_ item: Int, _ offset: Int64, _ into: FileMemory) throws(FileFailure)
            -> Void
    /// Told how much is durable, what the server had before included, never less than before.
    ///
    /// Called on the connection's event loop; must be quick.
    package var progress: @Sendable (Progress) -> Void

    package init(
        scope: DatabaseScope,
        assets: [Asset],
        in zone: ZoneID? = nil,
        read:
            @escaping @Sendable (Int, Int64, FileMemory) throws(FileFailure) -> Void,
        progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) {
        self.scope = scope
        self.assets = assets
        self.zone = zone
        self.read = read
        self.progress = progress
    }
}

/// The fault of a file on this side, with a text for people.
package enum FileFailure: Error, Hashable, Sendable {
    case missing(String)
    /// It is there, and can't be opened.
    case unopened(String)
    /// It is not what it was when it was hashed.
    case modified(String)
    /// Its bytes can't be an asset: it is no regular file.
    case unusable(String)
    /// Reading or writing failed.
    case failed(String)
}
