internal import Foundation
internal import RecordModel
internal import WireProtocol

/// A request to join shares.
struct ShareJoining: BatchRequest {
    typealias ItemID = CKShare.Metadata
    typealias Value = CKShare

    static let partialFailureText = "Failed to accept some shares"

    private let items: ShareItems<CKShare.Metadata, String>

    init(_ metadatas: [CKShare.Metadata]) {
        self.items = ShareItems(metadatas) { metadata throws(CKError) in metadata.token }
    }

    var itemCount: Int? { self.items.ids.count }
    var roles: RequestRoles<Self> { RequestRoles(share: { $0 }) }

    func operation(user: String) throws(CKError) -> RequestModel {
        .acceptShares(AcceptShares(tokens: self.items.questions))
    }

    func result(of item: Item, user: String) throws(WireError) -> ItemResult? {
        guard let metadata = self.items.id(of: item) else { return nil }
        guard case .record(let message) = item.outcome,
            let share = CKRecord.made(of: try message.record(), currentUser: user) as? CKShare
        else { return .value(metadata, .failure(item.outcome.error(user: user))) }
        return .value(metadata, .success(share))
    }
}

/// A request for access to shares.
struct ShareAccessRequest: BatchRequest {
    typealias ItemID = URL
    typealias Value = Void

    static let partialFailureText = "Failed to request access to some shares"

    private let items: ShareItems<URL, String>

    init(_ urls: [URL]) {
        self.items = ShareItems(urls) { url throws(CKError) in try ShareURL.token(of: url) }
    }

    var itemCount: Int? { self.items.ids.count }
    var roles: RequestRoles<Self> { RequestRoles(refused: self.items.refusals()) }

    func operation(user: String) throws(CKError) -> RequestModel {
        .requestShareAccess(RequestShareAccess(tokens: self.items.questions))
    }

    func result(of item: Item, user: String) -> ItemResult? {
        guard let url = self.items.id(of: item) else { return nil }
        guard case .done = item.outcome else {
            return .value(url, .failure(item.outcome.error(user: user)))
        }
        return .value(url, .success(()))
    }
}
