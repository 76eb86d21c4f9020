package import NIOCore
import RecordModel

extension Items {
    /// Reads the payload of an `items` frame: at least one item; a record in it is checked, and
    /// read when somebody asks for it.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        let items = try payload.reading("items") { message throws(WireError) in
            var items: [Item] = []
            while let tag = try message.tag() {
                switch tag {
                case 0x0A: items.append(try Item(message.message(), in: payload))
                default: try message.skip(tag)
                }
            }
            return items
        }
        guard !items.isEmpty else { throw WireError(.missing, field: "items") }
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
    /// Appends the item to the payload of an `items` frame: the encodings of items one behind the
    /// other are the message.
    package func append(toItems buffer: inout ByteBuffer) {
        buffer.writeMessage(1) { self.encode(into: &$0) }
    }

    init(_ message: consuming MessageReader, in payload: ByteBuffer) throws(WireError) {
        var index: UInt32 = 0
        var outcome: ItemOutcome?
        while let tag = try message.tag() {
            switch tag {
            case 0x08: index = try message.uint32()
            case 0x12: outcome = .failure(try Failure(message.message()))
            case 0x1A: outcome = .recordSaved(try RecordSaved(message.message()))
            case 0x22:
                try message.skip(tag)
                outcome = .deleted
            case 0x2A: outcome = .record(RecordMessage(try message.message(), in: payload))
            case 0x32: outcome = .zone(try Zone(message.message()))
            case 0x3A: outcome = .recordDeleted(try DeletedRecord(message.message()))
            case 0x42: outcome = .zoneChanged(try ZoneID(message.message()))
            case 0x4A: outcome = .zoneDeleted(try ZoneID(message.message()))
            case 0x52: outcome = .subscription(try Subscription(ofServer: message.message()))
            case 0x5A: outcome = .shareMetadata(try ShareMetadata(message.message()))
            case 0x62: outcome = .participant(try ShareParticipant(ofServer: message.bytes()))
            case 0x6A:
                try message.skip(tag)
                outcome = .done
            default: try message.skip(tag)
            }
        }
        // Taken out, not copied: a page has hundreds.
        guard let outcome = outcome.take() else { throw WireError(.missing, field: "outcome") }
        self.init(index: index, outcome: outcome)
    }

    private func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.index)
        switch self.outcome {
        case .failure(let failure): buffer.writeMessage(2) { failure.encode(into: &$0) }
        case .recordSaved(let saved): buffer.writeMessage(3) { saved.encode(into: &$0) }
        case .deleted: buffer.writeMessage(4) { _ in }
        case .record(let record): buffer.writeMessage(5) { record.append(to: &$0) }
        case .zone(let zone): buffer.writeMessage(6) { zone.encode(into: &$0) }
        case .recordDeleted(let deleted): buffer.writeMessage(7) { deleted.encode(into: &$0) }
        case .zoneChanged(let id): buffer.writeMessage(8) { id.encode(into: &$0) }
        case .zoneDeleted(let id): buffer.writeMessage(9) { id.encode(into: &$0) }
        case .subscription(let subscription): buffer.writeMessage(10) { subscription.encode(into: &$0) }
        case .shareMetadata(let metadata): buffer.writeMessage(11) { metadata.encode(into: &$0) }
        case .participant(let participant): buffer.writeMessage(12) { $0.writeBytes(participant.bytes) }
        case .done: buffer.writeMessage(13) { _ in }
        }
    }
}

extension End {
    /// Reads the payload of an `end`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        self.init()
        guard payload.readableBytes > 0 else { return }
        self = try payload.reading("end") { message throws(WireError) in
            var end = End()
            while let tag = try message.tag() {
                switch tag {
                case 0x0A: end.failure = try Failure(message.message())
                case 0x12: end.cursor = try message.bytes()
                case 0x18: end.count = try message.varint()
                case 0x22: end.missing.append(try message.text())
                case 0x2A: end.token = try message.bytes()
                case 0x30: end.moreComing = try message.varint() != 0
                case 0x3A: end.totals = try SnapshotTotals(message.message())
                case 0x42: end.clientToken = try message.bytes()
                default: try message.skip(tag)
                }
            }
            return end
        }
        guard self.missing.count <= Bounds.missingMax else { throw WireError(.outOfBounds, field: "missing") }
        guard self.token.count <= Bounds.tokenBytesMax else { throw WireError(.outOfBounds, field: "token") }
        guard self.clientToken.count <= Bounds.clientTokenBytesMax else {
            throw WireError(.outOfBounds, field: "client_token")
        }
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer()
        self.encode(into: &buffer)
        return buffer
    }

    /// Appends the encoded message.
    package func encode(into buffer: inout ByteBuffer) {
        if let failure { buffer.writeMessage(1) { failure.encode(into: &$0) } }
        buffer.writeField(2, self.cursor)
        buffer.writeField(3, self.count)
        for line in self.missing { buffer.writeElement(4, line) }
        buffer.writeField(5, self.token)
        buffer.writeField(6, self.moreComing)
        if let totals { buffer.writeMessage(7) { totals.encode(into: &$0) } }
        buffer.writeField(8, self.clientToken)
    }
}

extension Failure {
    /// A cause or an advice that this version does not know reads as the plainest one: an error of
    /// its own, not to be tried again.
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(code: ErrorCode(rawValue: 0), message: "", retry: .never)
        var cause: UInt32 = 0
        var culpritIndex: UInt32 = 0
        var retry: UInt32 = 0
        var retryAfterMilliseconds: UInt32 = 0
        while let tag = try message.tag() {
            switch tag {
            case 0x08: self.code = ErrorCode(rawValue: try message.uint32())
            case 0x12: self.message = try message.text()
            case 0x18: cause = try message.uint32()
            case 0x20: culpritIndex = try message.uint32()
            case 0x28: retry = try message.uint32()
            case 0x30: retryAfterMilliseconds = try message.uint32()
            case 0x3A:
                self.serverRecord = try Record(message.message())
            default: try message.skip(tag)
            }
        }
        guard self.message.utf8.count <= Bounds.messageBytesMax else {
            throw WireError(.outOfBounds, field: "message")
        }
        self.cause =
            switch cause {
            case 1: .dependsOn(index: culpritIndex)
            case 2: .atomicPeer(index: culpritIndex)
            default: .culprit
            }
        self.retry =
            switch retry {
            case 1: .now
            case 2: .after(milliseconds: retryAfterMilliseconds)
            case 3: .afterChange
            default: .never
            }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.code.rawValue)
        buffer.writeField(2, messageText(self.message, bytesMax: Bounds.messageBytesMax))
        switch self.cause {
        case .culprit: break
        case .dependsOn(let index):
            buffer.writeField(3, 1 as UInt32)
            buffer.writeField(4, index)
        case .atomicPeer(let index):
            buffer.writeField(3, 2 as UInt32)
            buffer.writeField(4, index)
        }
        switch self.retry {
        case .never: break
        case .now: buffer.writeField(5, 1 as UInt32)
        case .after(let milliseconds):
            buffer.writeField(5, 2 as UInt32)
            buffer.writeField(6, milliseconds)
        case .afterChange: buffer.writeField(5, 3 as UInt32)
        }
        if let serverRecord { buffer.writeMessage(7) { serverRecord.encode(into: &$0) } }
    }
}
