import StorageContract

/// The numbers of users.
extension TableReader {
    /// `nil` if nothing was ever stored of the user.
    func authorNumber(ofUser recordName: String) throws(StorageFailure) -> Int64? {
        try self.row(AuthorRow.byRecordName, recordName)?.number
    }

    /// The record name of a user by number.
    func userRecordName(ofAuthor number: Int64) throws(StorageFailure) -> String {
        guard let row = try self.row(AuthorRow.byKey, number) else { throw .unexpected(code: 0) }
        return row.recordName
    }
}

extension TableWriter {
    /// The number of a user, who gets one if they have none yet.
    func authorNumber(ofUserOrNew recordName: String) throws(StorageFailure) -> Int64 {
        if let known = try self.authorNumber(ofUser: recordName) { return known }
        return try self.insert(AuthorRow(recordName: recordName))
    }
}
