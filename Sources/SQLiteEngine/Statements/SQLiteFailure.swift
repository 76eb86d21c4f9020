import GRDB
import GRDBSQLite
import StorageContract

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

    /// Whether the disk had no room for the write.
    var isForWantOfRoom: Bool {
        // `LogFile.c` reports quotas and bounds on files the same way.
        if case .unavailable(SQLITE_FULL) = self { true } else { false }
    }

    /// Whether the disk refused a write, for lack of room or because it fails.
    var isOfWriting: Bool {
        guard case .unavailable(let code) = self else { return false }
        let result = ResultCode(rawValue: code)
        return [.SQLITE_FULL, .SQLITE_READONLY].contains(result.primaryResultCode)
            || Self.writing.contains(result)
    }

    private static let writing: [ResultCode] = [
        .SQLITE_IOERR_WRITE, .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_TRUNCATE, .SQLITE_IOERR_FSYNC,
        .SQLITE_IOERR_DIR_FSYNC,
    ]

    /// SQLite's result code; `SQLITE_ABORT` for failures that are not SQLite's.
    var code: Int32 {
        switch self {
        case .unavailable(let code), .unexpected(let code): code
        case .conflict, .outcomeUnknown, .exceeds: SQLITE_ABORT
        }
    }
}
