package import NIOCore
package import RecordModel

extension Request {
    /// Reads the payload of a `request`.
    ///
    /// Names are taken as they are, and a body that is not one becomes the `changesError` of its
    /// save: both fail by item, in the store. Too much is counted before anything is decoded, so
    /// that a few bytes an item buy no memory.
    ///
    /// - Throws: `WireError` with a `refusal` when the request cannot be executed and the
    ///   connection stays open (`limitExceeded`, `operationUnknown`, `invalidArguments`); without
    ///   one when the connection must be closed.
    package init(decoding payload: ByteBuffer, bounds: Bounds = .defaults) throws(WireError) {
        guard payload.readableBytes <= bounds.requestBytesMax else {
            throw WireError(.refused(.limitExceeded), field: "request")
        }
        let shape = RequestShape(payload)
        guard shape.itemCount <= bounds.requestItemsMax else {
            throw WireError(.refused(.limitExceeded), field: "items")
        }
        guard shape.desiredKeyCount <= Bounds.fieldsMax else {
            throw WireError(.refused(.limitExceeded), field: "desired_keys")
        }
        self = try payload.reading("request") { message throws(WireError) in
            try Request(fields: &message)
        }
    }

    private init(fields message: inout MessageReader) throws(WireError) {
        var requestID: [UInt8] = []
        var deadlineMilliseconds: UInt32 = 0
        var operation: Operation?
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: requestID = try message.bytes()
            case 0x10: deadlineMilliseconds = try message.uint32()
            case 0x82: operation = .modifyRecords(try ModifyRecords(message.message()))
            case 0x8A: operation = .fetchRecords(try FetchRecords(message.message()))
            case 0x92: operation = .modifyZones(try ModifyZones(message.message()))
            case 0x9A: operation = .fetchZones(try FetchZones(message.message()))
            case 0xA2: operation = .queryRecords(try QueryRecords(message.message()))
            case 0xAA: operation = .checkSchema(try CheckSchema(message.message()))
            case 0xB2: operation = .fetchChanges(try FetchChanges(message.message()))
            case 0xBA: operation = .fetchDatabaseChanges(try FetchDatabaseChanges(message.message()))
            case 0xC2: operation = .fetchToken(try FetchToken(message.message()))
            case 0xCA: operation = .modifySubscriptions(try ModifySubscriptions(message.message()))
            case 0xD2: operation = .fetchSubscriptions(try FetchSubscriptions(message.message()))
            case 0xDA:
                try message.message().skipAll()
                operation = .listen
            case 0xE2: operation = .uploadAssets(try UploadAssets(message.message()))
            case 0xEA: operation = .downloadAssets(try DownloadAssets(message.message()))
            case 0xF2: operation = .acceptShares(try AcceptShares(message.message()))
            case 0xFA: operation = .fetchShareMetadata(try FetchShareMetadata(message.message()))
            case 0x102: operation = .fetchShareParticipants(try FetchShareParticipants(message.message()))
            case 0x10A: operation = .requestShareAccess(try RequestShareAccess(message.message()))
            default: try message.skip(tag)
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
        var buffer = ByteBuffer()
        self.encode(into: &buffer)
        return buffer
    }

    /// Appends the encoded message.
    package func encode(into buffer: inout ByteBuffer) {
        if let requestID { buffer.writeField(1, requestID) }
        buffer.writeField(2, self.deadlineMilliseconds)
        switch self.operation {
        case .modifyRecords(let modify): buffer.writeMessage(16) { modify.encode(into: &$0) }
        case .fetchRecords(let fetch): buffer.writeMessage(17) { fetch.encode(into: &$0) }
        case .modifyZones(let modify): buffer.writeMessage(18) { modify.encode(into: &$0) }
        case .fetchZones(let fetch): buffer.writeMessage(19) { fetch.encode(into: &$0) }
        case .queryRecords(let query): buffer.writeMessage(20) { query.encode(into: &$0) }
        case .checkSchema(let check): buffer.writeMessage(21) { check.encode(into: &$0) }
        case .fetchChanges(let fetch): buffer.writeMessage(22) { fetch.encode(into: &$0) }
        case .fetchDatabaseChanges(let fetch): buffer.writeMessage(23) { fetch.encode(into: &$0) }
        case .fetchToken(let fetch): buffer.writeMessage(24) { fetch.encode(into: &$0) }
        case .modifySubscriptions(let modify): buffer.writeMessage(25) { modify.encode(into: &$0) }
        case .fetchSubscriptions(let fetch): buffer.writeMessage(26) { fetch.encode(into: &$0) }
        case .listen: buffer.writeMessage(27) { _ in }
        case .uploadAssets(let upload): buffer.writeMessage(28) { upload.encode(into: &$0) }
        case .downloadAssets(let download): buffer.writeMessage(29) { download.encode(into: &$0) }
        case .acceptShares(let accept): buffer.writeMessage(30) { accept.encode(into: &$0) }
        case .fetchShareMetadata(let fetch): buffer.writeMessage(31) { fetch.encode(into: &$0) }
        case .fetchShareParticipants(let fetch): buffer.writeMessage(32) { fetch.encode(into: &$0) }
        case .requestShareAccess(let request): buffer.writeMessage(33) { request.encode(into: &$0) }
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
