package import FileIO
package import RecordModel
package import StorageContract
package import ZoneBundles

/// Why zones were not written to a bundle, or not read from one.
package enum BundleFailure: Error, Hashable, Sendable {
    // MARK: Files

    case outputExists(String)
    case outputNotMade(String)
    case outputNotWritten(FileError)
    /// The output is complete, and does not get its name.
    case outputNotNamed(String)
    /// The file is no whole bundle.
    case refused(file: String, BundleError)
    /// The file is another one than was verified.
    case fileChanged(String)
    case folderNotOpened(String)
    /// Another process imports into the folder.
    case isBusy(folder: String)

    // MARK: Exports

    case zonesMissing([String])
    case zonesUnreadable(StoreError)
    case nothingToRead
    case assetNotFound(StoreError)

    // MARK: Imports

    /// A field of the schema here, with its type, has another type than in the bundle.
    case fieldTypeDiffers(String)
    /// Types and fields of the bundle.
    case productionLacks([String])
    /// A zone has records that are not from the bundle.
    case zoneIsForeign(ZoneID)
    case zone(ZoneID, StoreError)
    /// A record is refused; `nil` if the error is about none.
    case records(String?, StoreError)
    case participants(StoreError)
}

/// Why an import ended after it had begun to write.
package struct BundleImportStop: Error, Sendable {
    package let cause: any Error
    /// Whether all zones of the bundle were made by the import, and are deleted again.
    package let areZonesGone: Bool
}
