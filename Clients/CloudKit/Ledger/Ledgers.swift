internal import Foundation
internal import RecordModel
private import Synchronization
private import SystemCrypto

/// The ledgers of a container's feeds.
///
/// - Bounds: One for each feed that was read; small until a token expires.
final class Ledgers: Sendable {
    /// The kind of reader: feeds of sync engines have their own ledgers, as engines keep their own
    /// tokens.
    enum Reader: String, Sendable {
        case app
        case engine
    }

    private let folder: String
    private let bytesMax: Int
    private let container: String
    private let address: String
    private let ledgers = Mutex<[String: FeedLedger]>([:])

    /// Opens the ledgers; `nil` if none can be kept.
    ///
    /// - Parameters:
    ///   - folder: The folder for them.
    ///   - bytesMax: The largest size of each.
    ///   - container: The container's identifier and environment.
    ///   - address: The address of the server.
    init?(folder: String, bytesMax: Int64, container: String, address: String) {
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        guard bytesMax > 0, access(folder, W_OK) == 0 else { return nil }
        self.folder = folder
        // A call reads no more than 2 GiB.
        self.bytesMax = Int(min(bytesMax, 512 << 20))
        self.container = container
        self.address = address
    }

    /// Returns the ledger of a zone's feed or, without a zone, of the database's.
    func ledger(of zone: ZoneID?, in scope: DatabaseScopeModel, user: String, _ reader: Reader) -> FeedLedger
    {
        // A user's record name is unique to a server; without one the server's address has to do.
        let parts = [
            self.container, user.isEmpty ? self.address : user, "\(scope)", reader.rawValue,
            zone?.ownerName ?? "",
            zone?.zoneName ?? "",
        ]
        let feed = parts.joined(separator: "\n")
        return self.ledgers.withLock { ledgers in
            if let ledger = ledgers[feed] { return ledger }
            let ledger = FeedLedger(path: self.folder + "/" + Self.name(of: feed), bytesMax: self.bytesMax)
            ledgers[feed] = ledger
            return ledger
        }
    }

    private static func name(of feed: String) -> String {
        SHA256.hash(feed).prefix(16)
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
