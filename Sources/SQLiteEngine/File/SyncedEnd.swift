import Foundation
import GRDB
import GRDBSQLite
import RecordModel
import SQLiteSetup
import StorageContract

/// How far the log of a store was synced: a record in the file `tidemark.sqlite-synced`.
///
/// ```text
///   0  8 "tmSYNCED"  8 salts of the log  8 frames  8 sum of the last one  8 milliseconds since 1970
///      8 number of a database  8 its position, or both 0  8 sum of all that
/// 512  8 "tmCOPIED"  8 salts of the log  4 frames  4 zero  8 sum of all that
/// ```
///
/// Numbers are big-endian, and the sums are those of SQLite's log. The first record is written after
/// each sync, the second by each checkpoint that has put all frames into the file. Neither is
/// synced, so a loss of power may leave an earlier one: both are lower bounds. But before the log
/// is emptied or removed, both are on disk (`LogEnd.c`).
struct SyncedEnd: Hashable {
    var position: LogPosition
    var milliseconds: Int64 = 0
    /// A database that the commit changed, and the last position there.
    var place: Place?

    struct Place: Hashable {
        var database: Int64
        var position: Int64
    }

    fileprivate static let magic = Array("tmSYNCED".utf8)
    fileprivate static let recordBytes = 64

    /// Where the log of a connection ends, right after its commit.
    ///
    /// Fails if there is no log, or another process is adding to it.
    init?(_ connection: OpaquePointer, place: Place?, milliseconds: Int64) {
        var end = sqlite_setup_log_end()
        let operation = Int32(sqlite_setup_control_log_end)
        guard sqlite3_file_control(connection, "main", operation, &end) == SQLITE_OK, end.frames > 0 else {
            return nil
        }
        // SAFETY: the bytes are used in the call only.
        let salts = withUnsafeBytes(of: end.salts) { Array($0) }
        self.position = LogPosition(
            salts: LogSalts(first: BigEndian.number(salts[0..<4]), second: BigEndian.number(salts[4..<8])),
            frames: Int64(end.frames),
            sum: LogSum(first: end.sum.0, second: end.sum.1)
        )
        self.milliseconds = milliseconds
        self.place = place
    }

    /// That of a store without a commit in its log.
    fileprivate init() { self.position = .beginning }

    fileprivate init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.recordBytes, Array(bytes[0..<8]) == Self.magic,
            LogSum(of: bytes[0..<56]) == LogSum(bytes[56..<64])
        else { return nil }
        let numbers = stride(from: 16, to: 56, by: 8).map { offset in
            Int64(bitPattern: BigEndian.long(bytes[offset..<offset + 8]))
        }
        self.position = LogPosition(
            salts: LogSalts(first: BigEndian.number(bytes[8..<12]), second: BigEndian.number(bytes[12..<16])),
            frames: numbers[0],
            sum: LogSum(bytes[24..<32])
        )
        self.milliseconds = numbers[2]
        self.place = numbers[3] == 0 ? nil : Place(database: numbers[3], position: numbers[4])
    }

    fileprivate var bytes: [UInt8] {
        let salts = self.position.salts ?? LogSalts(first: 0, second: 0)
        let sum = self.position.sum
        var bytes = Self.magic
        for number in [salts.first, salts.second] { bytes += BigEndian.bytes(UInt64(number)).suffix(4) }
        bytes += BigEndian.bytes(UInt64(self.position.frames))
        for number in [sum.first, sum.second] { bytes += BigEndian.bytes(UInt64(number)).suffix(4) }
        for number in [self.milliseconds, self.place?.database ?? 0, self.place?.position ?? 0] {
            bytes += BigEndian.bytes(UInt64(bitPattern: number))
        }
        let own = LogSum(of: bytes[...])
        for number in [own.first, own.second] { bytes += BigEndian.bytes(UInt64(number)).suffix(4) }
        return bytes
    }
}

extension SyncedEnd {
    /// Whether a database has not yet assigned the position that was noted.
    ///
    /// A database that was deleted since says nothing.
    func isNewer(than file: Database) throws -> Bool {
        guard let place else { return false }
        let position = try Int64.fetchOne(
            file,
            sql: "SELECT position FROM database WHERE number = ?",
            arguments: [place.database]
        )
        return position.map { $0 < place.position } ?? false
    }
}

/// The frames of a log that a checkpoint has put into the file.
struct CopiedEnd: Hashable {
    var salts: LogSalts
    var frames: Int64

    fileprivate static let magic = Array("tmCOPIED".utf8)

    fileprivate init?(_ bytes: [UInt8]) {
        guard bytes.count == sqlite_setup_copied_bytes, Array(bytes[0..<8]) == Self.magic,
            LogSum(of: bytes[0..<24]) == LogSum(bytes[24..<32])
        else { return nil }
        self.salts = LogSalts(
            first: BigEndian.number(bytes[8..<12]),
            second: BigEndian.number(bytes[12..<16])
        )
        self.frames = Int64(BigEndian.number(bytes[16..<20]))
    }
}

/// The file of the two records.
///
/// SAFETY: the descriptor is opened once. `place` is used by the one sync that runs at a time.
final class SyncedNote: @unchecked Sendable {
    private let descriptor: Int32
    private var place: SyncedEnd.Place?

    /// Name of the file in the folder of a store.
    static let name = DatabaseFile.name + sqlite_setup_synced_ending

    static func path(of database: String) -> String { database + sqlite_setup_synced_ending }

    /// Opens the note of a database; makes it if there is none.
    ///
    /// - Durability: a new one is on disk, but for its name in the folder.
    init(of database: String) throws {
        self.descriptor = open(
            Self.path(of: database),
            O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
            0o600
        )
        guard self.descriptor >= 0 else { throw CocoaError(.fileWriteNoPermission) }
        if let end = SyncedEnd(Self.read(self.descriptor, 0, SyncedEnd.recordBytes)) {
            self.place = end.place
            return
        }
        let bytes = SyncedEnd().bytes
        guard pwrite(self.descriptor, bytes, bytes.count, 0) == bytes.count, fsync(self.descriptor) == 0
        else {
            // The descriptor is closed by `deinit`.
            throw CocoaError(.fileWriteUnknown)
        }
    }

    deinit { close(self.descriptor) }

    /// Notes a synced commit.
    ///
    /// If that fails, an earlier note stays, which is a lower bound too.
    func write(_ end: SyncedEnd) {
        var end = end
        self.place = end.place ?? self.place
        end.place = self.place
        let bytes = end.bytes
        _ = pwrite(self.descriptor, bytes, bytes.count, 0)
    }

    /// The records of a database; each is `nil` if it is missing or damaged.
    static func records(of database: String) -> (synced: SyncedEnd?, copied: CopiedEnd?) {
        let descriptor = open(self.path(of: database), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return (nil, nil) }
        defer { close(descriptor) }
        let copied = self.read(
            descriptor,
            sqlite_setup_copied_offset,
            sqlite_setup_copied_bytes
        )
        return (SyncedEnd(self.read(descriptor, 0, SyncedEnd.recordBytes)), CopiedEnd(copied))
    }

    /// Fewer bytes if the file ends.
    private static func read(_ descriptor: Int32, _ offset: Int, _ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let readCount = pread(descriptor, &bytes, count, off_t(offset))
        return Array(bytes.prefix(max(0, readCount)))
    }
}

/// Numbers with their highest byte first.
enum BigEndian {
    static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { UInt32(truncatingIfNeeded: self.long(bytes)) }

    static func long(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    static func bytes(_ number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }
}

extension LogSum {
    /// The sum of a record of ours.
    fileprivate init(of bytes: ArraySlice<UInt8>) {
        self.init()
        // SAFETY: the bytes are used in the call only.
        bytes.withUnsafeBytes { self.add($0, isBigEndian: true) }
    }

    fileprivate init(_ bytes: ArraySlice<UInt8>) {
        self.init(
            first: BigEndian.number(bytes.prefix(4)),
            second: BigEndian.number(bytes.suffix(4))
        )
    }
}
