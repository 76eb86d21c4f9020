import Foundation
import NIOCore
import RecordModel
import SwiftProtobuf
import TestSupport
import Testing
import WireProtocol

/// The golden bytes, which another implementation made, against the codec, both ways.
@Suite struct VectorTests {
    @Test func `every vector decodes to its fields and encodes to its bytes, or is refused as it says`()
        throws
    {
        let vectors = try Vector.all()
        #expect(vectors.count >= 135)
        for vector in vectors {
            if let fields = vector.fields {
                let recoded = try Self.recode(vector)
                #expect(recoded == vector.bytes, "\(vector.description)")
                try Self.compare(fields, with: vector)
            } else {
                let error = Self.error(of: vector)
                #expect(error == vector.error, "\(vector.description)")
            }
        }
    }

    @Test func `every file of vectors is read`() throws {
        let folder = ProtocolFiles.folder.appendingPathComponent("Vectors").path
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(files.sorted() == Vector.files.map { $0 + ".json" })
    }

    /// The fields of a vector, encoded by the generated code alone, are its bytes.
    private static func compare(_ fields: Data, with vector: Vector) throws {
        if vector.message == "Frame" {
            let json = try JSONSerialization.jsonObject(with: fields) as? [String: Any]
            var buffer = ByteBuffer(bytes: vector.bytes)
            let frame = try #require(try FrameDecoder().decode(buffer: &buffer))
            #expect(json?["kind"] as? Int == Int(frame.kind.rawValue))
            #expect(json?["flags"] as? Int == Int(frame.flags))
            #expect(json?["stream"] as? Int == Int(frame.stream))
            #expect(
                Vector.bytes(hex: json?["payload"] as? String ?? "") == Array(frame.payload.readableBytesView)
            )
        } else if vector.message == "AssetData" {
            let json = try JSONSerialization.jsonObject(with: fields) as? [String: Any]
            let data = try AssetData(decoding: ByteBuffer(bytes: vector.bytes))
            #expect(json?["item"] as? Int == Int(data.item))
            #expect(json?["offset"] as? Int == Int(data.offset))
            #expect(
                Vector.bytes(hex: json?["bytes"] as? String ?? "") == Array(data.bytes.readableBytesView)
            )
        } else {
            let type = try #require(Self.generated[vector.message])
            let message = try type.init(jsonUTF8Data: fields)
            let bytes: [UInt8] = try message.serializedBytes()
            #expect(bytes == vector.bytes, "\(vector.description)")
        }
    }

    private static let generated: [String: any SwiftProtobuf.Message.Type] = [
        "Hello": PBHello.self, "Welcome": PBWelcome.self, "GoAway": PBGoAway.self, "Request": PBRequest.self,
        "Items": PBItems.self, "End": PBEnd.self, "Credit": PBCredit.self,
        "RecordFields": PBRecordFields.self, "Notification": PBNotification.self,
        "NotificationAck": PBNotificationAck.self, "AssetOffsets": PBAssetOffsets.self,
        "Progress": PBProgress.self, "Challenge": PBChallenge.self, "Proof": PBProof.self,
    ]

    /// Decodes and encodes with the codec.
    static func recode(_ vector: Vector) throws -> [UInt8] {
        var payload = ByteBuffer(bytes: vector.bytes)
        let encoded: ByteBuffer
        switch vector.message {
        case "Hello": encoded = try Hello(decoding: payload).encoded()
        case "Welcome": encoded = try Welcome(decoding: payload).encoded()
        case "GoAway": encoded = try GoAway(decoding: payload).encoded()
        case "Request": encoded = try Request(decoding: payload).encoded()
        case "Items": encoded = try withRecordsRead(try Items(decoding: payload)).encoded()
        case "End": encoded = try End(decoding: payload).encoded()
        case "Credit": encoded = try Credit(decoding: payload).encoded()
        case "Notification": encoded = try Notification(decoding: payload).encoded()
        case "NotificationAck": encoded = try NotificationAck(decoding: payload).encoded()
        case "AssetData": encoded = try AssetData(decoding: payload).encoded()
        case "AssetOffsets": encoded = try AssetOffsets(decoding: payload).encoded()
        case "Challenge": encoded = try Challenge(decoding: payload).encoded()
        case "Proof": encoded = try Proof(decoding: payload).encoded()
        case "Progress": encoded = try Progress(decoding: payload).encoded()
        case "RecordFields":
            let body = try RecordBody(checking: vector.bytes, allowsClear: true)
            return RecordBody(body.fields).bytes
        case "Frame":
            let frame = try #require(try FrameDecoder().decode(buffer: &payload))
            #expect(payload.readableBytes == 0)
            var out = ByteBuffer()
            FrameEncoder.write(frame, into: &out)
            encoded = out
        default:
            Issue.record("a message without a codec: \(vector.message)")
            return []
        }
        return Array(encoded.readableBytesView)
    }

    private static func error(of vector: Vector) -> [String: String] {
        do {
            _ = try self.recode(vector)
            return [:]
        } catch let error as WireError {
            if let code = error.refusal { return ["error_code": Registry.name(of: code)] }
            return ["close_reason": Registry.name(of: error.closeReason)]
        } catch let error as BodyError {
            let why =
                switch error {
                case .malformed: "malformed"
                case .fieldOrder: "field_order"
                case .fieldNameInvalid: "field_name"
                case .valueInvalid, .recordNameInvalid: "value"
                case .tooManyFields, .tooManyElements: "count"
                case .clearNotAllowed: "clear"
                }
            return ["error_code": Registry.name(of: .invalidArguments), "why": why]
        } catch {
            return ["thrown": "\(error)"]
        }
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
