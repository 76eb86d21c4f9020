import NIOCore
import RecordModel
import WireProtocol

/// One made-up input: a byte that chooses the decoder, and what it is fed with.
///
/// The property: an input is refused with `WireError` or `BodyError`, or it decodes to something
/// whose encoding decodes to the same encoding; a body and a frame encode to the very bytes they
/// came from.
package enum FuzzInput {
    /// The order is that of `seeds.py`.
    private enum Decoder: UInt8, CaseIterable {
        case frame, hello, welcome, goAway, request, items, end, credit, body, notification, notificationAck
        case challenge, proof, assetData, assetOffsets, progress, share
    }

    /// What messages and other things the decoders are of, in their order.
    package static let subjects = [
        "Frame", "Hello", "Welcome", "GoAway", "Request", "Items", "End", "Credit", "RecordFields",
        "Notification",
        "NotificationAck", "Challenge", "Proof", "AssetData", "AssetOffsets", "Progress", "Share",
    ]

    /// Stops the process when the property does not hold.
    package static func run(_ input: [UInt8]) {
        guard let first = input.first,
            let decoder = Decoder(rawValue: first % UInt8(Decoder.allCases.count))
        else { return }
        let bytes = Array(input.dropFirst())
        do {
            let once = try self.recode(bytes, with: decoder)
            let twice = try self.recode(once, with: decoder)
            precondition(once == twice, "an encoding changes when it is decoded and encoded again")
            if decoder == .body { precondition(once == bytes, "a body has two encodings") }
        } catch is WireError {
        } catch is BodyError {
        } catch {
            preconditionFailure("another error than those of the codec: \(error)")
        }
    }

    private static func recode(_ bytes: [UInt8], with decoder: Decoder) throws -> [UInt8] {
        let payload = ByteBuffer(bytes: bytes)
        let encoded =
            switch decoder {
            case .frame: try self.recodeFrames(payload)
            case .hello: try Hello(decoding: payload).encoded()
            case .welcome: try Welcome(decoding: payload).encoded()
            case .goAway: try GoAway(decoding: payload).encoded()
            case .request: try Request(decoding: payload).encoded()
            case .items: try withRecordsRead(try Items(decoding: payload)).encoded()
            case .end: try End(decoding: payload).encoded()
            case .credit: try Credit(decoding: payload).encoded()
            case .notification: try Notification(decoding: payload).encoded()
            case .notificationAck: try NotificationAck(decoding: payload).encoded()
            case .challenge: try Challenge(decoding: payload).encoded()
            case .proof: try Proof(decoding: payload).encoded()
            case .assetData: try AssetData(decoding: payload).encoded()
            case .assetOffsets: try AssetOffsets(decoding: payload).encoded()
            case .progress: try Progress(decoding: payload).encoded()
            case .share: ByteBuffer(bytes: try Share(decoding: bytes).bytes)
            case .body:
                ByteBuffer(bytes: RecordBody(try RecordBody(checking: bytes, allowsClear: true).fields).bytes)
            }
        return Array(encoded.readableBytesView)
    }

    /// All whole frames of a stream; what is left over at its end belongs to a frame that has not come.
    private static func recodeFrames(_ stream: ByteBuffer) throws -> ByteBuffer {
        let decoder = FrameDecoder()
        var rest = stream
        var encoded = ByteBuffer()
        while let frame = try decoder.decode(buffer: &rest) { FrameEncoder.write(frame, into: &encoded) }
        let taken = stream.getSlice(at: stream.readerIndex, length: stream.readableBytes - rest.readableBytes)
        precondition(encoded == taken, "a frame has two encodings")
        return encoded
    }
}

/// Items whose records were read and encoded anew.
private func withRecordsRead(_ items: Items) throws(WireError) -> Items {
    Items(
        items: try items.items.map { (item) throws(WireError) in
            guard case .record(let message) = item.outcome else { return item }
            return Item(index: item.index, outcome: .record(RecordMessage(try message.record())))
        }
    )
}
