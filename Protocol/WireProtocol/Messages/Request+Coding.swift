package import NIOCore
package import RecordModel

extension Request {
    /// Reads the payload of a `request`.
    ///
    /// Names are not checked, and a malformed body becomes the `changesError` of its save: both
    /// fail by item, in the store. Counts are checked before decoding, so that a few bytes per item
    /// cannot allocate much memory.
    ///
    /// - Throws: `WireError` with a `refusal` if the request cannot be executed and the connection
    ///   stays open (`limitExceeded`, `operationUnknown`, `invalidArguments`); without one if the
    ///   connection must be closed.
    package init(decoding payload: ByteBuffer, bounds: Bounds = .defaults) throws(WireError) {
        guard payload.readableBytes <= bounds.requestBytesMax else {
            throw WireError(.refused(.limitExceeded), field: "request")
        }
        // Saves 0.3 µs for a small request.
        if RequestShape.itemCountMax(of: payload) > min(bounds.requestItemsMax, Bounds.fieldsMax) {
            try Self.checkCounts(of: payload, bounds)
        }
        try self.init(MessageReader(payload, "request"))
    }

    private static func checkCounts(of payload: ByteBuffer, _ bounds: Bounds) throws(WireError) {
        let shape = RequestShape(payload)
        guard shape.itemCount <= bounds.requestItemsMax else {
            throw WireError(.refused(.limitExceeded), field: "items")
        }
        guard shape.desiredKeyCount <= Bounds.fieldsMax else {
            throw WireError(.refused(.limitExceeded), field: "desired_keys")
        }
    }

    private init(_ message: consuming MessageReader) throws(WireError) {
        var requestID: [UInt8] = []
        var deadlineMilliseconds: UInt32 = 0
        var operation: Operation?
        while let field = try message.next(Proto.Request.self) {
            switch field {
            case .requestID: requestID = try message.bytes()
            case .deadlineMs: deadlineMilliseconds = try message.uint32()
            case .modifyRecords: operation = .modifyRecords(try ModifyRecords(message.message()))
            case .fetchRecords: operation = .fetchRecords(try FetchRecords(message.message()))
            case .modifyZones: operation = .modifyZones(try ModifyZones(message.message()))
            case .fetchZones: operation = .fetchZones(try FetchZones(message.message()))
            case .queryRecords: operation = .queryRecords(try QueryRecords(message.message()))
            case .checkSchema: operation = .checkSchema(try CheckSchema(message.message()))
            case .fetchChanges: operation = .fetchChanges(try FetchChanges(message.message()))
            case .fetchDatabaseChanges:
                operation = .fetchDatabaseChanges(try FetchDatabaseChanges(message.message()))
            case .fetchToken: operation = .fetchToken(try FetchToken(message.message()))
            case .modifySubscriptions:
                operation = .modifySubscriptions(try ModifySubscriptions(message.message()))
            case .fetchSubscriptions:
                operation = .fetchSubscriptions(try FetchSubscriptions(message.message()))
            case .listen:
                try message.message().skipAll()
                operation = .listen
            case .uploadAssets: operation = .uploadAssets(try UploadAssets(message.message()))
            case .downloadAssets: operation = .downloadAssets(try DownloadAssets(message.message()))
            case .acceptShares: operation = .acceptShares(try AcceptShares(message.message()))
            case .fetchShareMetadata:
                operation = .fetchShareMetadata(try FetchShareMetadata(message.message()))
            case .fetchShareParticipants:
                operation = .fetchShareParticipants(try FetchShareParticipants(message.message()))
            case .requestShareAccess:
                operation = .requestShareAccess(try RequestShareAccess(message.message()))
            case .explainRecord: operation = .explainRecord(try ExplainRecord(message.message()))
            }
        }
        guard let operation else { throw WireError(.refused(.operationUnknown), field: "operation") }
        self.init(
            requestID: operation.isMutating ? try Self.requestID(requestID) : nil,
            deadlineMilliseconds: deadlineMilliseconds,
            operation: operation
        )
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        self.encode(into: &buffer)
        return buffer
    }

    /// Appends the encoded message.
    package func encode(into buffer: inout ByteBuffer) {
        if let requestID { buffer.writeField(Proto.Request.requestID, requestID) }
        buffer.writeField(Proto.Request.deadlineMs, self.deadlineMilliseconds)
        switch self.operation {
        case .modifyRecords(let modify):
            buffer.writeMessage(Proto.Request.modifyRecords) { modify.encode(into: &$0) }
        case .fetchRecords(let fetch):
            buffer.writeMessage(Proto.Request.fetchRecords) { fetch.encode(into: &$0) }
        case .modifyZones(let modify):
            buffer.writeMessage(Proto.Request.modifyZones) { modify.encode(into: &$0) }
        case .fetchZones(let fetch): buffer.writeMessage(Proto.Request.fetchZones) { fetch.encode(into: &$0) }
        case .queryRecords(let query):
            buffer.writeMessage(Proto.Request.queryRecords) { query.encode(into: &$0) }
        case .checkSchema(let check):
            buffer.writeMessage(Proto.Request.checkSchema) { check.encode(into: &$0) }
        case .fetchChanges(let fetch):
            buffer.writeMessage(Proto.Request.fetchChanges) { fetch.encode(into: &$0) }
        case .fetchDatabaseChanges(let fetch):
            buffer.writeMessage(Proto.Request.fetchDatabaseChanges) { fetch.encode(into: &$0) }
        case .fetchToken(let fetch): buffer.writeMessage(Proto.Request.fetchToken) { fetch.encode(into: &$0) }
        case .modifySubscriptions(let modify):
            buffer.writeMessage(Proto.Request.modifySubscriptions) { modify.encode(into: &$0) }
        case .fetchSubscriptions(let fetch):
            buffer.writeMessage(Proto.Request.fetchSubscriptions) { fetch.encode(into: &$0) }
        case .listen: buffer.writeMessage(Proto.Request.listen) { _ in }
        case .uploadAssets(let upload):
            buffer.writeMessage(Proto.Request.uploadAssets) { upload.encode(into: &$0) }
        case .downloadAssets(let download):
            buffer.writeMessage(Proto.Request.downloadAssets) { download.encode(into: &$0) }
        case .acceptShares(let accept):
            buffer.writeMessage(Proto.Request.acceptShares) { accept.encode(into: &$0) }
        case .fetchShareMetadata(let fetch):
            buffer.writeMessage(Proto.Request.fetchShareMetadata) { fetch.encode(into: &$0) }
        case .fetchShareParticipants(let fetch):
            buffer.writeMessage(Proto.Request.fetchShareParticipants) { fetch.encode(into: &$0) }
        case .requestShareAccess(let request):
            buffer.writeMessage(Proto.Request.requestShareAccess) { request.encode(into: &$0) }
        case .explainRecord(let explain):
            buffer.writeMessage(Proto.Request.explainRecord) { explain.encode(into: &$0) }
        }
    }

    private static func requestID(_ bytes: [UInt8]) throws(WireError) -> RequestID? {
        guard !bytes.isEmpty else { return nil }
        guard bytes.count == 16 else { throw WireError(.refused(.invalidArguments), field: "request_id") }
        func word(at start: Int) -> UInt64 {
            bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
        return RequestID(high: word(at: 0), low: word(at: 8))
    }
}
