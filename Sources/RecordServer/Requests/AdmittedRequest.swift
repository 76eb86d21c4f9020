package import RecordModel
package import RecordStore
package import StorageContract
import WireProtocol

/// A request that passed all checks that need no database.
package enum AdmittedRequest: Sendable {
    case write(WriteRequest)
    case fetchRecords(FetchRecords, Requester)
    case fetchZones(FetchZones.Selection, Requester)
    case query(AdmittedQuery)
    case feed(AdmittedFeed)
    case checkSchema(SchemaCheck)
    case fetchSubscriptions(FetchSubscriptions.Selection, Requester)
    case listen(ListenerIdentity)
    case fetchShareMetadata(FetchShareMetadata, Requester)
    case fetchShareParticipants(FetchShareParticipants, Requester)
    case explain(RecordID, Requester)
    case upload(AdmittedUpload)
    case download(AdmittedDownload)

    /// The ID that the client gave a change.
    var requestID: RequestID? {
        guard case .write(let request) = self else { return nil }
        return request.requestID
    }

    /// The database of the request; `nil` if it has several, or none.
    var scope: DatabaseScope? {
        switch self {
        case .write(let write): write.requester.scope
        case .fetchRecords(_, let requester), .fetchZones(_, let requester), .explain(_, let requester):
            requester.scope
        case .query(let query): query.requester.scope
        case .feed(let feed): feed.requester.scope
        case .checkSchema, .fetchSubscriptions, .listen, .fetchShareMetadata, .fetchShareParticipants,
            .upload, .download:
            nil
        }
    }

    /// Whether its response contains stored data, and may be large.
    var isReading: Bool {
        switch self {
        case .fetchRecords, .fetchZones, .query, .feed, .checkSchema, .fetchSubscriptions,
            .fetchShareMetadata,
            .fetchShareParticipants, .explain:
            true
        case .write, .listen, .upload, .download:
            false
        }
    }
}

/// The context of admission.
struct RequestAdmission {
    let user: ConnectionUser
    let bounds: Bounds
    /// Payload bytes of the request's frame.
    let requestBytes: Int
    /// Milliseconds since 1970 after which the request is not executed.
    let deadlineMilliseconds: Int64
    /// The server's clock, milliseconds since 1970.
    let nowMilliseconds: Int64
    let sealKey: SealKey
    /// The connection that makes the request.
    let origin: ChangeOrigin

    /// Checks the count, the scope and the requester.
    ///
    /// Sizes were checked before decoding.
    ///
    /// - Throws: The failure that ends the request; nothing of it was executed.
    func admit(_ request: Request) throws(Failure) -> AdmittedRequest {
        try self.user.check(request.operation)
        switch request.operation {
        case .listen:
            return try self.admitListen()
        case .modifySubscriptions(let operation):
            return .write(try self.admit(operation, requestID: request.requestID))
        case .fetchSubscriptions(let operation):
            return try self.admit(operation)
        case .modifyRecords(let operation):
            return .write(try self.admit(operation, requestID: request.requestID))
        case .fetchRecords(let operation):
            return try self.admit(operation)
        case .modifyZones(let operation):
            return .write(try self.admit(operation, requestID: request.requestID))
        case .fetchZones(let operation):
            return try self.admit(operation)
        case .queryRecords(let operation):
            return try self.admit(operation)
        case .fetchChanges(let operation):
            return try self.admit(operation)
        case .fetchDatabaseChanges(let operation):
            return try self.admit(operation)
        case .fetchToken(let operation):
            return try self.admit(operation)
        case .checkSchema(let operation):
            return try self.admit(operation)
        case .uploadAssets(let operation):
            return try self.admit(operation)
        case .downloadAssets(let operation):
            return try self.admit(operation)
        case .acceptShares(let operation):
            return .write(try self.admit(operation, requestID: request.requestID))
        case .requestShareAccess(let operation):
            return .write(try self.admit(operation, requestID: request.requestID))
        case .explainRecord(let operation):
            return try self.admit(operation)
        case .fetchShareMetadata(let operation):
            return try self.admit(operation)
        case .fetchShareParticipants(let operation):
            return try self.admit(operation)
        }
    }

    func checkCount(_ count: Int) throws(Failure) {
        guard count <= self.bounds.requestItemsMax else {
            throw .tooManyItems(count, itemsMax: self.bounds.requestItemsMax)
        }
    }

    func write(
        _ operation: WriteRequest.Operation,
        for requester: Requester,
        requestID: RequestID?
    ) throws(Failure) -> WriteRequest {
        guard let requestID else { throw Failure(StoreError.requestIDMissing) }
        return WriteRequest(
            requester: requester,
            requestID: requestID,
            operation: operation,
            bytes: self.requestBytes,
            deadlineMilliseconds: self.deadlineMilliseconds,
            origin: self.origin
        )
    }
}
