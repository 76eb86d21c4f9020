package import NIOCore
import RecordModel

/// The number of items in an encoded `Request`, from its tags and lengths alone.
///
/// The smallest item takes two bytes and, decoded, about a hundred: so counting comes before
/// decoding. Only the structure is checked; the decoder refuses malformed bytes.
package struct RequestShape {
    /// Saves and deletes, or IDs.
    ///
    /// Queries and feeds have none.
    package private(set) var itemCount = 0
    /// Desired keys of a fetch of records or of shares, a query or a feed.
    private(set) var desiredKeyCount = 0
    /// Whether records, zones or subscriptions are saved or deleted.
    package private(set) var isChange = false

    /// The smallest item or key: a tag and a length of 0.
    private static let itemBytesMin = 2

    /// Upper bound on the items, or keys, of an encoded request, without reading it.
    static func itemCountMax(of payload: ByteBuffer) -> Int { payload.readableBytes / Self.itemBytesMin }

    package init(_ payload: ByteBuffer) {
        // Where this fails, the decoder fails too.
        try? self.walk(MessageReader(payload, "request"))
    }

    private mutating func walk(_ message: consuming MessageReader) throws(WireError) {
        while let field = try message.next(Proto.Request.self) {
            switch field {
            case .modifyRecords, .modifyZones, .modifySubscriptions: self.isChange = true
            default: break
            }
            switch field {
            case .modifyRecords: try self.count(Proto.ModifyRecords.saves, .deletes, in: message.message())
            case .modifyZones: try self.count(Proto.ModifyZones.saves, .deletes, in: message.message())
            case .modifySubscriptions:
                try self.count(Proto.ModifySubscriptions.saves, .deletes, in: message.message())
            case .fetchRecords:
                try self.count(Proto.FetchRecords.ids, keys: .desiredKeys, in: message.message())
            case .fetchZones: try self.count(Proto.FetchZones.ids, in: message.message())
            case .fetchSubscriptions: try self.count(Proto.FetchSubscriptions.ids, in: message.message())
            case .queryRecords:
                try self.count(nil, keys: Proto.QueryRecords.desiredKeys, in: message.message())
            case .fetchChanges:
                try self.count(nil, keys: Proto.FetchChanges.desiredKeys, in: message.message())
            case .uploadAssets: try self.count(Proto.UploadAssets.assets, in: message.message())
            case .downloadAssets: try self.count(Proto.DownloadAssets.ranges, in: message.message())
            case .acceptShares: try self.count(Proto.AcceptShares.tokens, in: message.message())
            case .fetchShareMetadata:
                try self.count(Proto.FetchShareMetadata.tokens, keys: .desiredKeys, in: message.message())
            case .fetchShareParticipants:
                try self.count(Proto.FetchShareParticipants.lookups, in: message.message())
            case .requestShareAccess: try self.count(Proto.RequestShareAccess.tokens, in: message.message())
            case .requestID, .deadlineMs, .checkSchema, .fetchDatabaseChanges, .fetchToken, .listen,
                .explainRecord:
                try message.skip(field)
            }
        }
    }

    /// Counts the items, and the desired keys, of an operation.
    private mutating func count<Field: WireField>(
        _ items: Field?,
        _ moreItems: Field? = nil,
        keys: Field? = nil,
        in operation: consuming MessageReader
    ) throws(WireError) {
        while let field = try operation.next(Field.self) {
            if field == keys {
                try self.countKeys(in: operation.message())
                continue
            }
            if field == items || field == moreItems { self.itemCount += 1 }
            try operation.skip(field)
        }
    }

    private mutating func countKeys(in keys: consuming MessageReader) throws(WireError) {
        while let tag = try keys.tag() {
            self.desiredKeyCount += 1
            try keys.skip(tag)
        }
    }
}
