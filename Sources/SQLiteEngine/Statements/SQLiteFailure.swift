import GRDB
import GRDBSQLite
import RecordStore

extension StorageFailure {
    /// The meaning of a SQLite result code, primary or extended.
    init(sqliteCode code: Int32) {
        switch code & 0xFF {
        case SQLITE_FULL, SQLITE_IOERR, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_READONLY, SQLITE_CANTOPEN,
            SQLITE_NOMEM:
            self = .unavailable(code: code)
        default:
            self = .unexpected(code: code)
        }
    }

    init(_ error: any Error) {
        self =
            switch error {
            case let failure as StorageFailure: failure
            case let error as DatabaseError: StorageFailure(sqliteCode: error.extendedResultCode.rawValue)
            default: .unexpected(code: 0)
            }
    }

    /// Whether the disk has no room for what was to be written.
    var isForWantOfRoom: Bool {
        guard case .unavailable(let code) = self else { return false }
        let result = ResultCode(rawValue: code)
        return result.primaryResultCode == .SQLITE_FULL
            || [.SQLITE_IOERR_WRITE, .SQLITE_IOERR_SHMSIZE].contains(result)
    }

    /// SQLite's result code; `SQLITE_ABORT` for failures that SQLite itself never has.
    var code: Int32 {
        switch self {
        case .unavailable(let code), .unexpected(let code): code
        case .conflict, .outcomeUnknown: SQLITE_ABORT
        }
    }
}
