package import NIOCore
import RecordModel

extension Items {
    /// Reads the payload of an `items` frame: at least one item; records are checked and read when
    /// they are accessed.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        var message = MessageReader(payload, "items")
        var items: [Item] = []
        var texts = SharedTexts()
        while let field = try message.next(Proto.Items.self) {
            switch field {
            case .items:
                guard items.count < ClientBounds.frameItemsMax else {
                    throw WireError(.outOfBounds, field: "items")
                }
                items.append(try Item(message.message(), in: payload, &texts))
            }
        }
        guard !items.isEmpty else { throw WireError(.missing, field: "items") }
        self.init(items: items)
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        self.encode(into: &buffer)
        return buffer
    }

    /// Appends the encoded message.
    package func encode(into buffer: inout ByteBuffer) {
        for item in self.items { item.append(toItems: &buffer) }
    }
}

extension Item {
    /// Appends the item to the payload of an `items` frame: the concatenated encodings of items are
    /// the message.
    package func append(toItems buffer: inout ByteBuffer) {
        buffer.writeMessage(Proto.Items.items) { self.encode(into: &$0) }
    }

    init(
        _ message: consuming MessageReader,
        in payload: ByteBuffer,
        _ texts: inout SharedTexts
    ) throws(WireError) {
        var index: UInt32 = 0
        var outcome: ItemOutcome?
        while let field = try message.next(Proto.Item.self) {
            switch field {
            case .index: index = try message.uint32()
            case .failure: outcome = .failure(try Failure(message.message()))
            case .recordSaved: outcome = .recordSaved(try RecordSaved(message.message(), &texts))
            case .deleted:
                try message.skip(field)
                outcome = .deleted
            case .record: outcome = .record(RecordMessage(try message.message(), in: payload))
            case .zone: outcome = .zone(try Zone(message.message()))
            case .recordDeleted: outcome = .recordDeleted(try DeletedRecord(message.message()))
            case .zoneChanged: outcome = .zoneChanged(try ZoneID(message.message()))
            case .zoneDeleted: outcome = .zoneDeleted(try ZoneID(message.message()))
            case .subscription: outcome = .subscription(try Subscription(ofServer: message.message()))
            case .shareMetadata: outcome = .shareMetadata(try ShareMetadata(message.message()))
            case .participant: outcome = .participant(try ShareParticipant(ofServer: message.bytes()))
            case .done:
                try message.skip(field)
                outcome = .done
            case .explanation: outcome = .explanation(try RecordExplanation(message.message()))
            }
        }
        // Moved out, not copied: a page has hundreds.
        guard let outcome = outcome.take() else { throw WireError(.missing, field: "outcome") }
        self.init(index: index, outcome: outcome)
    }

    private func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.Item.index, self.index)
        switch self.outcome {
        case .failure(let failure): buffer.writeMessage(Proto.Item.failure) { failure.encode(into: &$0) }
        case .recordSaved(let saved): buffer.writeMessage(Proto.Item.recordSaved) { saved.encode(into: &$0) }
        case .deleted: buffer.writeMessage(Proto.Item.deleted) { _ in }
        case .record(let record): buffer.writeMessage(Proto.Item.record) { record.append(to: &$0) }
        case .zone(let zone): buffer.writeMessage(Proto.Item.zone) { zone.encode(into: &$0) }
        case .recordDeleted(let deleted):
            buffer.writeMessage(Proto.Item.recordDeleted) { deleted.encode(into: &$0) }
        case .zoneChanged(let id): buffer.writeMessage(Proto.Item.zoneChanged) { id.encode(into: &$0) }
        case .zoneDeleted(let id): buffer.writeMessage(Proto.Item.zoneDeleted) { id.encode(into: &$0) }
        case .subscription(let subscription):
            buffer.writeMessage(Proto.Item.subscription) { subscription.encode(into: &$0) }
        case .shareMetadata(let metadata):
            buffer.writeMessage(Proto.Item.shareMetadata) { metadata.encode(into: &$0) }
        case .participant(let participant):
            buffer.writeElement(Proto.Item.participant, participant.bytes.span)
        case .done: buffer.writeMessage(Proto.Item.done) { _ in }
        case .explanation(let explanation):
            buffer.writeMessage(Proto.Item.explanation) { explanation.encode(into: &$0) }
        }
    }
}

extension End {
    /// Reads the payload of an `end`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        self.init()
        var message = MessageReader(payload, "end")
        var fieldCount = 0
        while let field = try message.next(Proto.End.self) {
            // A repeated field is legal: the last one counts.
            fieldCount += 1
            guard fieldCount <= Bounds.missingMax + ClientBounds.endFieldsMax else {
                throw WireError(.outOfBounds, field: "end")
            }
            switch field {
            case .failure: self.failure = try Failure(message.message())
            case .cursor: self.cursor = try message.bytes()
            case .count: self.count = try message.varint()
            case .missing: self.missing.append(try message.text())
            case .token: self.token = try message.bytes()
            case .moreComing: self.moreComing = try message.bool()
            case .totals: self.totals = try SnapshotTotals(message.message())
            case .clientToken: self.clientToken = try message.bytes()
            }
        }
        guard self.missing.count <= Bounds.missingMax else { throw WireError(.outOfBounds, field: "missing") }
        guard self.token.count <= Bounds.tokenBytesMax else { throw WireError(.outOfBounds, field: "token") }
        guard self.clientToken.count <= Bounds.clientTokenBytesMax else {
            throw WireError(.outOfBounds, field: "client_token")
        }
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        self.encode(into: &buffer)
        return buffer
    }

    /// Appends the encoded message.
    package func encode(into buffer: inout ByteBuffer) {
        if let failure { buffer.writeMessage(Proto.End.failure) { failure.encode(into: &$0) } }
        buffer.writeField(Proto.End.cursor, self.cursor)
        buffer.writeField(Proto.End.count, self.count)
        for line in self.missing { buffer.writeElement(Proto.End.missing, line) }
        buffer.writeField(Proto.End.token, self.token)
        buffer.writeField(Proto.End.moreComing, self.moreComing)
        if let totals { buffer.writeMessage(Proto.End.totals) { totals.encode(into: &$0) } }
        buffer.writeField(Proto.End.clientToken, self.clientToken)
    }
}

extension Failure {
    /// An unknown cause or advice reads as the plainest one: an error of the item itself, never to
    /// be retried.
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(code: ErrorCode(rawValue: 0), message: "", retry: .never)
        var cause: UInt32 = 0
        var culpritIndex: UInt32 = 0
        var retry: UInt32 = 0
        var retryAfterMilliseconds: UInt32 = 0
        while let field = try message.next(Proto.Failure.self) {
            switch field {
            case .code: self.code = ErrorCode(rawValue: try message.uint32())
            case .message: self.message = try message.text()
            case .cause: cause = try message.uint32()
            case .culpritIndex: culpritIndex = try message.uint32()
            case .retry: retry = try message.uint32()
            case .retryAfterMs: retryAfterMilliseconds = try message.uint32()
            case .serverRecord: self.serverRecord = try Record(message.message())
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
        buffer.writeField(Proto.Failure.code, self.code.rawValue)
        buffer.writeField(Proto.Failure.message, messageText(self.message, bytesMax: Bounds.messageBytesMax))
        switch self.cause {
        case .culprit: break
        case .dependsOn(let index):
            buffer.writeField(Proto.Failure.cause, 1 as UInt32)
            buffer.writeField(Proto.Failure.culpritIndex, index)
        case .atomicPeer(let index):
            buffer.writeField(Proto.Failure.cause, 2 as UInt32)
            buffer.writeField(Proto.Failure.culpritIndex, index)
        }
        switch self.retry {
        case .never: break
        case .now: buffer.writeField(Proto.Failure.retry, 1 as UInt32)
        case .after(let milliseconds):
            buffer.writeField(Proto.Failure.retry, 2 as UInt32)
            buffer.writeField(Proto.Failure.retryAfterMs, milliseconds)
        case .afterChange: buffer.writeField(Proto.Failure.retry, 3 as UInt32)
        }
        if let serverRecord {
            buffer.writeMessage(Proto.Failure.serverRecord) { serverRecord.encode(into: &$0) }
        }
    }
}
