import NIOCore
import RecordModel
import RecordStore
import StorageContract
import WireProtocol

/// The position of a query, sealed and kept by the client.
///
/// It holds what the server needs to send the next page.
///
/// ```text
/// version 1 | made, ms since 1970 (8) | database (8)
///     | lengths and bytes of: user, zone, query, resume | HMAC-SHA256 (32)
/// ```
///
/// Integers are in network byte order. The seal covers everything before it; the server rejects a
/// cursor that it did not make.
struct QueryCursor: Hashable, Sendable {
    var madeMilliseconds: Int64
    var database: DatabaseID
    /// Empty if no user was signed in.
    var user: String
    /// `nil` if the query covers all zones.
    var zone: ZoneID?
    var query: Query
    /// The store's own position.
    var resume: [UInt8]

    private static let version: UInt8 = 1
    static let lifetimeMilliseconds: Int64 = 24 * 60 * 60 * 1_000

    init(continuing read: QueryRead, at resume: [UInt8], for requester: Requester, madeMilliseconds: Int64) {
        self.madeMilliseconds = madeMilliseconds
        self.database = requester.database
        self.user = requester.userRecordName ?? ""
        self.zone = read.zone
        self.query = read.query
        self.resume = resume
    }

    func sealed(with key: SealKey) -> [UInt8] {
        var buffer = ByteBuffer()
        buffer.writeInteger(Self.version)
        buffer.writeInteger(self.madeMilliseconds)
        buffer.writeInteger(self.database.rawValue)
        Self.write(Array(self.user.utf8), to: &buffer)
        Self.write(self.zone.map { [1] + Array($0.zoneName.utf8) } ?? [], to: &buffer)
        Self.write(self.zone.map { Array($0.ownerName.utf8) } ?? [], to: &buffer)
        Self.write(Array(self.query.encoded().readableBytesView), to: &buffer)
        Self.write(self.resume, to: &buffer)
        return key.sealed(Array(buffer.readableBytesView), as: .cursor)
    }

    /// Opens a cursor from a client.
    ///
    /// - Throws: `invalidArguments`: it belongs to another server, user or database, or is too old.
    init(
        opening bytes: [UInt8],
        with key: SealKey,
        for requester: Requester,
        nowMilliseconds: Int64
    ) throws(Failure) {
        guard let contents = key.opened(bytes, as: .cursor) else { throw .cursorInvalid }
        // Sealed bytes were written by a server of this store: a failure to read them means another
        // version.
        var buffer = ByteBuffer(bytes: contents)
        guard buffer.readInteger(as: UInt8.self) == Self.version,
            let madeMilliseconds = buffer.readInteger(as: Int64.self),
            let database = buffer.readInteger(as: Int64.self),
            let user = Self.read(&buffer), let zoneName = Self.read(&buffer),
            let ownerName = Self.read(&buffer), let query = Self.read(&buffer),
            let resume = Self.read(&buffer)
        else { throw .cursorInvalid }
        self.madeMilliseconds = madeMilliseconds
        self.database = DatabaseID(rawValue: database)
        self.user = String(decoding: user, as: UTF8.self)
        self.zone =
            zoneName.isEmpty
            ? nil
            : ZoneID(
                zoneName: String(decoding: zoneName.dropFirst(), as: UTF8.self),
                ownerName: String(decoding: ownerName, as: UTF8.self)
            )
        do {
            self.query = try Query(decoding: ByteBuffer(bytes: query))
        } catch {
            throw .cursorInvalid
        }
        self.resume = resume
        guard self.database == requester.database, self.user == requester.userRecordName ?? "" else {
            throw .cursorInvalid
        }
        guard nowMilliseconds - madeMilliseconds <= Self.lifetimeMilliseconds else { throw .cursorExpired }
    }

    private static func write(_ bytes: [UInt8], to buffer: inout ByteBuffer) {
        buffer.writeInteger(UInt32(bytes.count))
        buffer.writeBytes(bytes)
    }

    private static func read(_ buffer: inout ByteBuffer) -> [UInt8]? {
        guard let count = buffer.readInteger(as: UInt32.self) else { return nil }
        return buffer.readBytes(length: Int(count))
    }
}

extension Failure {
    fileprivate static let cursorInvalid = Failure(
        code: .invalidArguments,
        message: "The cursor is not one of this user, database and server: start the query again",
        retry: .never
    )
    fileprivate static let cursorExpired = Failure(
        code: .invalidArguments,
        message: "The cursor has expired: start the query again",
        retry: .never
    )
}
