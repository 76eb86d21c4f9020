import NIOCore
import RecordModel
import StorageContract
import WireProtocol

/// A sealed feed token for clients: the store's position in the feed, and its user.
///
/// ```text
/// version 1 | length (2) and bytes of the user's name | the store's token | seal
/// ```
///
/// The store's token names database and zone; without the seal, the server would trust a token that
/// a client has changed.
enum FeedToken {
    private static let version: UInt8 = 1

    static func sealed(_ token: [UInt8], for requester: Requester, with key: SealKey) -> [UInt8] {
        // Empty if no user is signed in.
        let user = requester.userRecordName ?? ""
        var buffer = ByteBuffer()
        buffer.writeInteger(Self.version)
        buffer.writeInteger(UInt16(clamping: user.utf8.count))
        buffer.writeString(user)
        buffer.writeBytes(token)
        return key.sealed(Array(buffer.readableBytesView), as: .token)
    }

    /// The store's token within a client's one; `nil` if the client sent none.
    ///
    /// - Throws: `changeTokenExpired`: it belongs to another server or another user.
    static func opened(
        _ bytes: [UInt8],
        for requester: Requester,
        with key: SealKey
    ) throws(Failure) -> [UInt8]? {
        guard !bytes.isEmpty else { return nil }
        guard let contents = key.opened(bytes, as: .token) else {
            throw Failure(StoreError.changeTokenExpired)
        }
        var buffer = ByteBuffer(bytes: contents)
        guard buffer.readInteger(as: UInt8.self) == Self.version,
            let length = buffer.readInteger(as: UInt16.self),
            buffer.readString(length: Int(length)) == requester.userRecordName ?? ""
        else { throw Failure(StoreError.changeTokenExpired) }
        return Array(buffer.readableBytesView)
    }
}
