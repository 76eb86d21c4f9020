import RecordModel
import RecordStore
import StorageContract
import WireProtocol

/// A page of a query, with the state that its cursor needs.
package struct AdmittedQuery: Sendable {
    var read: QueryRead
    var requester: Requester
}

extension RequestAdmission {
    /// `query_records`.
    func admit(_ operation: QueryRecords) throws(Failure) -> AdmittedRequest {
        let requester = try self.user.requester(for: operation.scope, writing: false)
        var read: QueryRead
        switch operation.start {
        case .query(let query, let zone):
            read = QueryRead(query: query, zone: zone)
        case .cursor(let bytes):
            let cursor = try QueryCursor(
                opening: bytes,
                with: self.sealKey,
                for: requester,
                nowMilliseconds: self.nowMilliseconds
            )
            read = QueryRead(query: cursor.query, zone: cursor.zone, resume: cursor.resume)
        }
        read.desiredKeys = operation.desiredKeys
        let page = operation.limit == 0 ? Bounds.queryPageMax : Int(clamping: operation.limit)
        read.limit = min(page, Bounds.queryPageMax)
        read.isCount = operation.isCount
        return .query(AdmittedQuery(read: read, requester: requester))
    }
}

extension End {
    /// The end of a page with its records in a sink.
    init(_ page: QueryPageResult, of query: AdmittedQuery, key: SealKey, nowMilliseconds: Int64) {
        let cursor = page.resume.map {
            QueryCursor(
                continuing: query.read,
                at: $0,
                for: query.requester,
                madeMilliseconds: nowMilliseconds
            ).sealed(with: key)
        }
        self.init(cursor: cursor ?? [], count: UInt64(clamping: page.count))
    }
}
