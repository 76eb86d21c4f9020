internal import Foundation
internal import RecordModel
internal import WireProtocol

/// A request for the metadata of shares.
struct ShareMetadataFetch: BatchRequest {
    typealias ItemID = URL
    typealias Value = CKShare.Metadata

    static let partialFailureText = "Failed to fetch some share metadata"

    private let items: ShareItems<URL, String>
    private let wantsRootRecords: Bool
    private let desiredKeys: [CKRecord.FieldKey]?

    /// Without `rootRecords` the keys have no effect.
    init(_ urls: [URL], rootRecords: Bool = false, desiredKeys: [CKRecord.FieldKey]? = nil) {
        self.items = ShareItems(urls) { url throws(CKError) in try ShareURL.token(of: url) }
        self.wantsRootRecords = rootRecords
        self.desiredKeys = rootRecords ? desiredKeys : nil
    }

    var itemCount: Int? { self.items.ids.count }
    var roles: RequestRoles<Self> {
        RequestRoles(refused: self.items.refusals(), share: { $0.share })
    }

    func operation(user: String) throws(CKError) -> RequestModel {
        .fetchShareMetadata(
            FetchShareMetadata(
                tokens: self.items.questions,
                wantsRootRecords: self.wantsRootRecords,
                desiredKeys: ShareKeys.asked(self.desiredKeys)
            )
        )
    }

    func result(of item: Item, user: String) -> ItemResult? {
        guard let url = self.items.id(of: item) else { return nil }
        guard case .shareMetadata(let metadata) = item.outcome,
            let share = CKRecord.made(of: metadata.share, currentUser: user) as? CKShare
        else { return .value(url, .failure(item.outcome.error(user: user))) }
        let root = metadata.rootRecord.map { CKRecord.made(of: $0, currentUser: user) }
        let token = self.items.questions[Int(item.index)]
        return .value(
            url,
            .success(CKShare.Metadata(metadata, share: share, rootRecord: root, token: token))
        )
    }
}
