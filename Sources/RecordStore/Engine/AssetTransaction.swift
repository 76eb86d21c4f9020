package import RecordModel

/// What rules may do with assets within a transaction: the part that differs from one engine to another.
package protocol AssetTransaction: AnyObject {
    /// The asset of a database, its bytes complete.
    func asset(_ asset: Asset, in database: DatabaseID) throws(StorageFailure) -> AssetNumber?
    /// Whether a user of a public database has sent an asset, or a participant of a share all bytes of an upload.
    func isAsset(_ number: AssetNumber, sentBy user: String) throws(StorageFailure) -> Bool
    /// The upload of an asset that has begun and is not complete: in a public database the user's, in a private one the owner's without a user
    /// and otherwise the participant's.
    ///
    /// A participant's has all its bytes when it is sent by him (`isAsset`), and is complete when a record names it.
    func upload(
        of asset: Asset,
        by user: String?,
        in database: DatabaseID
    ) throws(StorageFailure) -> AssetNumber?
    /// Begins an upload, with a number that no asset ever had.
    func insertUpload(
        of asset: Asset,
        by user: String?,
        in database: DatabaseID
    ) throws(StorageFailure) -> AssetNumber
    /// The asset that a participant has sent, to be named by a record: his upload becomes the asset, unless the database has the same bytes.
    func takeUpload(
        of asset: Asset,
        by user: String,
        in database: DatabaseID
    ) throws(StorageFailure) -> AssetNumber
    /// Reads the keys of the records of a zone that name an asset, in no order; at most `limit`.
    func records(
        naming asset: AssetNumber,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [RecordKey]
    /// The grace time of an asset that nobody names begins anew.
    func renew(_ number: AssetNumber) throws(StorageFailure)

    /// Notes that a record names an asset that it did not name.
    func addUse(of number: AssetNumber, by record: RecordKey) throws(StorageFailure)
    /// Notes that a record does not name an asset any more: if it was the last, the grace time begins.
    func removeUse(of asset: Asset, by record: RecordKey) throws(StorageFailure)
    /// Notes that a record is gone.
    func removeUses(by record: RecordKey) throws(StorageFailure)

    /// Forgets which assets of any database a user has sent.
    func forgetSender(_ user: String) throws(StorageFailure)

    /// How much more a database may take; `nil`: as much as there is disk.
    func quotaRoom(in database: DatabaseID) throws(StorageFailure) -> QuotaRoom?
}
