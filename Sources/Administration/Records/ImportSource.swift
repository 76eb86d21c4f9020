package import RecordJSON

/// The file of an import, which is read more than once.
package struct ImportSource: Sendable {
    let file: InputFile
    let isCSV: Bool
    let recordType: String?
    let owners: ZoneOwners

    /// `recordType` is the type of all records of a CSV; `owners` are those of the database.
    package init(file: InputFile, isCSV: Bool, recordType: String?, owners: ZoneOwners) {
        self.file = file
        self.isCSV = isCSV
        self.recordType = recordType
        self.owners = owners
    }

    /// Passes all records in order.
    ///
    /// - Parameter body: Gets a record, and how many bytes of the file were read since the last call.
    /// - Throws: `RecordFileFault`, and what the body throws.
    func forEach(_ body: (RecordDraft, Int) async throws -> Void) async throws {
        guard self.isCSV else {
            return try await self.forEach(JSONRecordReader(self.file.text(), owners: self.owners), body)
        }
        let reader: CSVRecordReader
        do {
            reader = try CSVRecordReader(self.file.text(), recordType: self.recordType)
        } catch let error as RecordJSONError {
            throw RecordFileFault.text(error)
        }
        try await self.forEach(reader, body)
    }

    private func forEach(
        _ reader: some DraftReader,
        _ body: (RecordDraft, Int) async throws -> Void
    ) async throws {
        var reader = reader
        var bytes: Int64 = 0
        var isWithoutRecord = true
        while let draft = try reader.nextDraft() {
            isWithoutRecord = false
            try await body(draft, Int(reader.bytesTaken - bytes))
            bytes = reader.bytesTaken
        }
        if isWithoutRecord { try reader.refuseWithoutRecord() }
    }
}
