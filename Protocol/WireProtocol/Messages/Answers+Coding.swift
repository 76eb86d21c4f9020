import struct Foundation.Data
package import NIOCore
import RecordModel

extension Items {
    /// Reads the payload of an `items` frame: at least one item.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        let message = try PBItems(payload: payload, field: "items")
        guard !message.items.isEmpty else { throw WireError(.missing, field: "items") }
        var items: [Item] = []
        items.reserveCapacity(message.items.count)
        for item in message.items { items.append(try Item(item)) }
        self.init(items: items)
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer()
        self.encode(into: &buffer)
        return buffer
    }

    /// Appends the encoded message.
    package func encode(into buffer: inout ByteBuffer) {
        for item in self.items { item.append(toItems: &buffer) }
    }
}

extension Item {
    /// Appends the item to the payload of an `items` frame: the encodings of items one behind the other are the message.
    package func append(toItems buffer: inout ByteBuffer) {
        var contents = self.generated.payload()
        // Field 1 of `Items`, length-delimited.
        buffer.writeInteger(UInt8(0x0A))
        var length = contents.readableBytes
        while length >= 0x80 {
            buffer.writeInteger(UInt8(truncatingIfNeeded: length) | 0x80)
            length >>= 7
        }
        buffer.writeInteger(UInt8(length))
        buffer.writeBuffer(&contents)
    }

    init(_ message: PBItem) throws(WireError) {
        self.init(index: message.index, outcome: try ItemOutcome(message.outcome))
    }

    private var generated: PBItem {
        var message = PBItem()
        message.index = self.index
        message.outcome =
            switch self.outcome {
            case .failure(let failure): .failure(failure.generated)
            case .recordSaved(let saved): .recordSaved(saved.generated)
            case .deleted: .deleted(PBDeleted())
            case .record(let record): .record(record.generated)
            case .zone(let zone): .zone(zone.generated)
            }
        return message
    }
}

extension ItemOutcome {
    init(_ message: PBItem.OneOf_Outcome?) throws(WireError) {
        switch message {
        case .failure(let failure): self = .failure(try Failure(failure))
        case .recordSaved(let saved): self = .recordSaved(RecordSaved(saved))
        case .deleted: self = .deleted
        case .record(let record): self = .record(try Record(record))
        case .zone(let zone): self = .zone(Zone(zone))
        case nil: throw WireError(.missing, field: "outcome")
        }
    }
}

extension End {
    /// Reads the payload of an `end`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        let message = try PBEnd(payload: payload, field: "end")
        self.init(failure: message.hasFailure ? try Failure(message.failure) : nil)
    }

    package func encoded() -> ByteBuffer {
        guard let failure else { return ByteBuffer() }
        var message = PBEnd()
        message.failure = failure.generated
        return message.payload()
    }

    /// Appends the encoded message.
    package func encode(into buffer: inout ByteBuffer) {
        guard self.failure != nil else { return }
        var payload = self.encoded()
        buffer.writeBuffer(&payload)
    }
}

extension Failure {
    /// A cause or an advice that this version does not know reads as the plainest one: an error of its own, not to be
    /// tried again.
    init(_ message: PBFailure) throws(WireError) {
        guard message.message.utf8.count <= Bounds.messageBytesMax else {
            throw WireError(.outOfBounds, field: "message")
        }
        let cause: Cause =
            switch message.cause {
            case .culprit, .UNRECOGNIZED: .culprit
            case .dependsOn: .dependsOn(index: message.culpritIndex)
            case .atomicPeer: .atomicPeer(index: message.culpritIndex)
            }
        let retry: Retry =
            switch message.retry {
            case .never, .UNRECOGNIZED: .never
            case .now: .now
            case .after: .after(milliseconds: message.retryAfterMs)
            case .afterChange: .afterChange
            }
        self.init(
            code: ErrorCode(rawValue: message.code),
            message: message.message,
            cause: cause,
            retry: retry,
            serverRecord: message.hasServerRecord ? try Record(message.serverRecord) : nil
        )
    }

    var generated: PBFailure {
        var message = PBFailure()
        message.code = self.code.rawValue
        message.message = messageText(self.message, bytesMax: Bounds.messageBytesMax)
        switch self.cause {
        case .culprit: message.cause = .culprit
        case .dependsOn(let index):
            message.cause = .dependsOn
            message.culpritIndex = index
        case .atomicPeer(let index):
            message.cause = .atomicPeer
            message.culpritIndex = index
        }
        switch self.retry {
        case .never: message.retry = .never
        case .now: message.retry = .now
        case .after(let milliseconds):
            message.retry = .after
            message.retryAfterMs = milliseconds
        case .afterChange: message.retry = .afterChange
        }
        if let serverRecord { message.serverRecord = serverRecord.generated }
        return message
    }
}
