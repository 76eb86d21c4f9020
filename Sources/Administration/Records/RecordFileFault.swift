import FileIO
package import RecordJSON

/// A fault of a file of records.
package enum RecordFileFault: Error, Hashable, Sendable {
    case text(RecordJSONError)
    case input(InputFileError)
    case unreadable(reason: String)
    /// The file is not empty, but has no record.
    case hasNoRecord(bytes: Int64)
}

extension DraftReader {
    /// Reads the next record; `nil` at the end.
    package mutating func nextDraft() throws(RecordFileFault) -> RecordDraft? {
        do {
            return try self.next()
        } catch let error as RecordJSONError {
            throw .text(error)
        } catch let error as InputFileError {
            throw .input(error)
        } catch {
            throw .unreadable(reason: FileError.reason(error))
        }
    }

    /// Refuses an input that is not empty, but has no record; called at the end of one without records.
    package func refuseWithoutRecord() throws(RecordFileFault) {
        guard self.bytesTaken > 0 else { return }
        throw .hasNoRecord(bytes: self.bytesTaken)
    }
}
