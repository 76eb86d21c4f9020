import struct Foundation.Data
package import NIOCore
package import RecordModel

extension Request {
    /// Reads the payload of a `request`.
    ///
    /// Names are taken as they are, and a body that is not one becomes the `changesError` of its save: both fail by item,
    /// in the store. Too much is counted before anything is decoded, so that a few bytes an item buy no memory.
    ///
    /// - Throws: `WireError` with a `refusal` when the request cannot be executed and the connection stays open
    ///   (`limitExceeded`, `operationUnknown`, `invalidArguments`); without one when the connection must be closed.
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
        let message = try PBRequest(payload: payload, field: "request")
        let operation = try Operation(message.operation)
        self.init(
            requestID: operation.isMutating ? try Self.requestID(message.requestID) : nil,
            deadlineMilliseconds: message.deadlineMs,
            operation: operation
        )
    }

    package func encoded() -> ByteBuffer {
        self.generated.payload()
    }

    /// Appends the encoded message.
    package func encode(into buffer: inout ByteBuffer) {
        var payload = self.encoded()
        buffer.writeBuffer(&payload)
    }

    private static func requestID(_ bytes: Data) throws(WireError) -> RequestID? {
        guard !bytes.isEmpty else { return nil }
        guard let requestID = RequestID(bytes: bytes) else {
            throw WireError(.refused(.invalidArguments), field: "request_id")
        }
        return requestID
    }

    private var generated: PBRequest {
        var message = PBRequest()
        if let requestID { message.requestID = Data(requestID.bytes) }
        message.deadlineMs = self.deadlineMilliseconds
        message.operation =
            switch self.operation {
            case .modifyRecords(let modify): .modifyRecords(modify.generated)
            case .fetchRecords(let fetch): .fetchRecords(fetch.generated)
            case .modifyZones(let modify): .modifyZones(modify.generated)
            case .fetchZones(let fetch): .fetchZones(fetch.generated)
            }
        return message
    }
}

extension Operation {
    init(_ operation: PBRequest.OneOf_Operation?) throws(WireError) {
        switch operation {
        case .modifyRecords(let message): self = .modifyRecords(try ModifyRecords(message))
        case .fetchRecords(let message): self = .fetchRecords(try FetchRecords(message))
        case .modifyZones(let message): self = .modifyZones(try ModifyZones(message))
        case .fetchZones(let message): self = .fetchZones(try FetchZones(message))
        case nil: throw WireError(.refused(.operationUnknown), field: "operation")
        }
    }
}
