/// The files of a store, for what an operator does with them beside a server or without one.
///
/// An engine brings it. Every call blocks.
package protocol StoreFiles: Sendable {
    /// The number of the format in which a server of this version keeps its files.
    var format: Int { get }

    /// The name of the file that every store and every backup has, in its folder.
    var name: String { get }

    /// The names of all files that the engine makes in the folder of a store, `name` included.
    var names: [String] { get }

    /// Opens the store of a folder to be copied, while a server may be writing to it.
    ///
    /// - Throws: `isMissing`, `isBackup`.
    func source(in directory: String) throws(StoreCopyError) -> any StoreSource

    /// Opens the file of a backup, and brings it to the current format.
    ///
    /// - Throws: `isNoBackup`, `formatTooNew`.
    func copy(ofBackup path: String) throws(StoreCopyError) -> any StoreCopy
}

extension StoreFiles {
    /// The path of the file that every store has.
    package func path(in directory: String) -> String { directory + "/" + self.name }
}

/// A store that is to be copied.
package protocol StoreSource: Sendable {
    /// The bytes of a copy, and of the assets that it names.
    func size() throws(StoreCopyError) -> (database: Int64, assets: Int64)

    /// Copies the store as it is at one moment, with every change that was acknowledged before;
    /// writers go on meanwhile.
    ///
    /// The copy replaces what is at the path, and no engine serves it.
    ///
    /// - Durability: None.
    /// - Progress: It is called with the bytes since the last call.
    func copy(to path: String, progress: (Int) -> Void) throws(StoreCopyError) -> any StoreCopy

    /// Whether the store still has an asset, complete.
    func has(_ number: AssetNumber) throws(StoreCopyError) -> Bool

    /// Reads everything, and checks the engine's own structures: pages, and indexes of tables. One table a
    /// transaction.
    ///
    /// `progress` gets how many tables were read, and how many there are. Rows are for a verification.
    ///
    /// - Returns: A line for each fault, at most `KeptRecord.faultsMax`.
    func checkPages(progress: (Int64, Int64) -> Void) throws(StoreCopyError) -> [String]

    /// Finds a record by chance; `nil` if there is none.
    func recordByChance() throws(StoreCopyError) -> KeptRecord?

    /// Finds a record by its key; `nil` if it is gone.
    func keptRecord(_ key: RecordKey) throws(StoreCopyError) -> KeptRecord?
}

/// A copy of a store in a backup, or in a folder that is being restored: one file of the current
/// format, with a mark that every engine refuses.
package protocol StoreCopy: Sendable {
    /// Lists complete assets in the order of their numbers, behind a number; at most `limit`.
    func assets(after number: AssetNumber?, limit: Int) throws(StoreCopyError) -> [StoredAsset]

    /// Whether it has an asset, complete.
    func has(_ number: AssetNumber) throws(StoreCopyError) -> Bool

    /// The number of complete assets, and their bytes.
    func assetTotals() throws(StoreCopyError) -> (assets: Int, bytes: Int64)

    /// Leaves it to the next server to forget an asset that has no file, unless a record names it.
    ///
    /// - Returns: Whether no record does.
    func forgetUnnamed(_ number: AssetNumber) throws(StoreCopyError) -> Bool

    /// Lets the copy be served, as another life of every database: the end of a restore.
    ///
    /// - Durability: Returns after all of it is on disk, or throws and nothing is.
    func beginNewLife(nowMilliseconds now: Int64) throws(StoreCopyError)

    func close() throws(StoreCopyError)
}

/// Why a store cannot be copied, or a copy not be used.
///
/// Codes are the engine's own numbers, for its operator.
package enum StoreCopyError: Error, Hashable, Sendable {
    case isMissing
    /// It is a copy itself.
    case isBackup
    /// It is none.
    case isNoBackup
    /// A newer version of the server wrote it.
    case formatTooNew(found: Int, known: Int)
    /// A version before the first release wrote it.
    case formatUnreleased
    /// Or it refuses to be written to for another reason.
    case diskFull
    /// It is no store, or is damaged.
    case isDamaged(code: Int32)
    /// Commits that were acknowledged are missing.
    case savesMissing(LogLoss)
    case failed(code: Int32)
}
