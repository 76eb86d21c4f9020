package import FileIO
package import RecordModel
package import WireProtocol

/// Bytes of assets to get from a server, and where they go.
package struct AssetDownload: Sendable {
    /// Bytes of one asset.
    package struct Part: Hashable, Sendable {
        package var asset: Asset
        /// Within the asset.
        package var range: Range<Int64>

        package init(_ asset: Asset, _ range: Range<Int64>) {
            self.asset = asset
            self.range = range
        }
    }

    package var scope: DatabaseScope
    /// The record that names the assets.
    package var record: RecordID
    package var parts: [Part]
    /// Takes bytes of a part: in order, without gaps, each byte once, even if the connection was
    /// lost in between.
    ///
    /// Called on a thread for files, one call at a time.
    package var write:
        @Sendable (_ part: Int, _ offset: Int64, _ pieces: [FileBytes]) throws(FileFailure) -> Void
    /// Takes the same bytes in the same order, to hash them for instance.
    ///
    /// The bytes may be written at the same time, on another thread.
    ///
    /// If `write` fails for some bytes, this may have had them. The download ends when both have
    /// all.
    package var digest: (@Sendable (_ part: Int, _ bytes: FileBytes) -> Void)?
    /// Told how much has come, never less than before.
    ///
    /// Called on the connection's event loop; must be quick.
    package var progress: @Sendable (Progress) -> Void

    package init(
        scope: DatabaseScope,
        record: RecordID,
        parts: [Part],
        write: @escaping @Sendable (Int, Int64, [FileBytes]) throws(FileFailure) -> Void,
        digest: (@Sendable (Int, FileBytes) -> Void)? = nil,
        progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) {
        self.scope = scope
        self.record = record
        self.parts = parts
        self.write = write
        self.digest = digest
        self.progress = progress
    }
}
