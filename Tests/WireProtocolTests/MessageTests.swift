import Foundation
import NIOCore
import RecordModel
import SwiftProtobuf
import TestSupport
import Testing
import WireProtocol

@Suite struct MessageTests {
    @Test func `no prefix of a vector does anything but decode or be refused`() throws {
        for vector in try Vector.all() where vector.message != "Frame" {
            // Long vectors repeat themselves: their first 500 bytes have every kind of cut.
            for length in 0..<min(vector.bytes.count, 500) {
                var prefix = vector
                prefix.bytes = Array(vector.bytes[..<length])
                do {
                    let once = try VectorTests.recode(prefix)
                    prefix.bytes = once
                    #expect(
                        try VectorTests.recode(prefix) == once,
                        "\(vector.description), \(length) bytes"
                    )
                } catch is WireError {
                } catch is BodyError {
                }
            }
        }
    }

    @Test(
        arguments: [
            [0xA2, 0x06, 0x03, 1, 2, 3], [0xA0, 0x06, 0x80, 0x01], [0xA1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8],
            [0xA5, 0x06, 1, 2, 3, 4],
            // A number that the message has, with another wire type.
            [0x0A, 0x01, 0x05], [0x0D, 1, 2, 3, 4],
        ] as [[UInt8]]
    )
    func `fields that this version does not know are skipped`(unknown: [UInt8]) throws {
        var payload = Credit(bytes: 7).encoded()
        payload.writeBytes(unknown)
        #expect(try Credit(decoding: payload) == Credit(bytes: 7))
        for count in 1..<unknown.count {
            let cut = try #require(payload.getSlice(at: 0, length: 2 + count))
            #expect(throws: WireError(.malformed, field: "credit")) { try Credit(decoding: cut) }
        }
    }

    @Test(arguments: [[0xA3, 0x06, 0xA4, 0x06], [0x0B, 0x0C], [0x0E], [0x00], [0x02, 0x00]] as [[UInt8]])
    func `a group, and what is no field, is refused`(bytes: [UInt8]) {
        #expect(throws: WireError(.malformed, field: "credit")) {
            try Credit(decoding: ByteBuffer(bytes: bytes))
        }
    }

    @Test func `a list of numbers may come one by one, or in parts`() throws {
        let packed = AssetOffsets(offsets: [0, 1, 300]).encoded()
        let others: [[UInt8]] = [
            [0x08, 0, 0x08, 1, 0x08, 0xAC, 0x02], [0x0A, 1, 0, 0x08, 1, 0x0A, 2, 0xAC, 0x02],
        ]
        for other in others {
            let offsets = try AssetOffsets(decoding: ByteBuffer(bytes: other))
            #expect(offsets.encoded() == packed)
        }
        #expect(throws: WireError(.malformed, field: "asset_offsets")) {
            try AssetOffsets(decoding: ByteBuffer(bytes: [0x0A, 2, 1, 0x80]))
        }
    }

    @Test func `the fields of one save can be malformed without harm to the others`() throws {
        var message = PBRequest()
        for fields in [[], [0xFF], RecordBody([Field(name: "a", value: .int64(1))]).bytes] as [[UInt8]] {
            var save = PBRecordSave()
            save.fields = .init(fields)
            message.modifyRecords.saves.append(save)
        }
        message.modifyRecords.scope = .private
        let request = try Request(decoding: ByteBuffer(bytes: try message.serializedBytes() as [UInt8]))
        guard case .modifyRecords(let modify) = request.operation else {
            Issue.record("another operation")
            return
        }
        #expect(modify.saves.map(\.changesError) == [nil, .malformed, nil])
        #expect(modify.saves.map(\.changes.isEmpty) == [true, true, false])
    }

    @Test(arguments: [400, 401])
    func `items are counted before they are decoded`(count: Int) throws {
        let ids = Array(repeating: RecordID(zone: ZoneID(zoneName: ""), recordName: ""), count: count)
        let zones = Array(repeating: ZoneID(zoneName: ""), count: count)
        let names = Array(repeating: "", count: count)
        let body = RecordBody.empty
        let saves = ids.dropFirst().map { RecordSave(id: $0, recordType: "", changes: body) }
        let hashes = (0..<count).map {
            [UInt8($0 >> 8), UInt8($0 & 0xFF)] + [UInt8](repeating: 0, count: 30)
        }
        // The zone of an upload is none of its items.
        let upload = UploadAssets(
            scope: .shared,
            assets: hashes.map { Asset(sha256: $0, size: 1) },
            zone: ZoneID(zoneName: "a", ownerName: "b")
        )
        let operations: [RecordModel.Operation] = [
            .uploadAssets(upload),
            .downloadAssets(
                DownloadAssets(
                    scope: .private,
                    record: RecordID(zone: .default, recordName: "a"),
                    ranges: hashes.map { AssetRange(sha256: $0) }
                )
            ),
            .fetchRecords(FetchRecords(scope: .private, ids: ids)),
            .modifyRecords(ModifyRecords(scope: .private, saves: Array(saves), deletes: [ids[0]])),
            .modifyZones(ModifyZones(scope: .private, saves: Array(zones.dropFirst()), deletes: [zones[0]])),
            .fetchZones(FetchZones(scope: .private, selection: .ids(zones))),
            .fetchSubscriptions(FetchSubscriptions(scope: .private, selection: .ids(names))),
            .modifySubscriptions(
                ModifySubscriptions(
                    scope: .private,
                    saves: names.dropFirst().map { Subscription(id: $0, kind: .database(recordType: nil)) },
                    deletes: [names[0]]
                )
            ),
        ]
        for operation in operations {
            #expect(operation.itemCount == count)
            let request = Request(requestID: nil, deadlineMilliseconds: 0, operation: operation)
            if count <= Bounds.defaults.requestItemsMax {
                #expect(try Request(decoding: request.encoded()) == request)
            } else {
                #expect(throws: WireError(.refused(.limitExceeded), field: "items")) {
                    try Request(decoding: request.encoded())
                }
            }
        }
    }

    /// Requests too small for that many items are not counted.
    @Test(arguments: [2, 100])
    func `items of no bytes are counted as well`(itemsMax: Int) throws {
        var bounds = Bounds.defaults
        bounds.requestItemsMax = itemsMax
        var message = PBRequest()
        message.fetchRecords.ids = Array(repeating: .init(), count: itemsMax + 1)
        let payload = ByteBuffer(bytes: try message.serializedBytes() as [UInt8])
        #expect(throws: WireError(.refused(.limitExceeded), field: "items")) {
            try Request(decoding: payload, bounds: bounds)
        }
    }

    @Test(arguments: [0, 1])
    func `a request of 2 MiB passes, one byte more is refused and the connection stays`(excess: Int) throws {
        let bytesMax = Bounds.defaults.requestBytesMax
        func request(fieldBytes: Int) -> Request {
            let body = RecordBody([Field(name: "a", value: .bytes([UInt8](repeating: 1, count: fieldBytes)))])
            let id = RecordID(zone: .default, recordName: "a")
            let save = RecordSave(id: id, recordType: "A", changes: body)
            let modify = ModifyRecords(scope: .private, saves: [save])
            return Request(requestID: nil, deadlineMilliseconds: 0, operation: .modifyRecords(modify))
        }
        let framing = request(fieldBytes: 2_000_000).encoded().readableBytes - 2_000_000
        let payload = request(fieldBytes: bytesMax - framing + excess).encoded()
        #expect(payload.readableBytes == bytesMax + excess)
        if excess == 0 {
            _ = try Request(decoding: payload)
        } else {
            let error = #expect(throws: WireError.self) { try Request(decoding: payload) }
            #expect(error?.refusal == .limitExceeded)
        }
    }

    @Test func `a request ID is ignored where nothing changes`() throws {
        var message = PBRequest()
        message.requestID = .init([1, 2, 3])
        message.fetchZones.scope = .public
        message.fetchZones.all = true
        let request = try Request(decoding: ByteBuffer(bytes: try message.serializedBytes() as [UInt8]))
        #expect(request.requestID == nil)
    }

    @Test func `error codes of later versions survive, and their advice becomes the safest`() throws {
        var message = PBEnd()
        message.failure.code = 4_711
        message.failure.cause = .UNRECOGNIZED(9)
        message.failure.retry = .UNRECOGNIZED(9)
        let end = try End(decoding: ByteBuffer(bytes: try message.serializedBytes() as [UInt8]))
        #expect(end.failure == Failure(code: ErrorCode(rawValue: 4_711), message: "", retry: .never))
    }

    @Test func `a text that is too long is cut between characters`() throws {
        let failure = Failure(
            code: .internalError,
            message: "a" + String(repeating: "🌊", count: 400),
            retry: .never
        )
        let end = try End(decoding: End(failure: failure).encoded())
        #expect(end.failure?.message == "a" + String(repeating: "🌊", count: 255))
    }

    @Test func `items one behind the other are the message`() throws {
        let items = Items(items: [
            Item(index: 0, outcome: .deleted),
            Item(index: 7, outcome: .zone(Zone(id: .default, capabilities: []))),
        ])
        var appended = ByteBuffer()
        for item in items.items { item.append(toItems: &appended) }
        #expect(appended == items.encoded())
        #expect(try Items(decoding: appended) == items)
    }

    @Test func `a ping has 8 bytes and a cancel none`() throws {
        #expect(try Ping(decoding: Ping(value: 0x0102).encoded()) == Ping(value: 0x0102))
        _ = try Cancel(decoding: Cancel().encoded())
        for count in [0, 7, 9] {
            #expect(throws: WireError.self) { try Ping(decoding: ByteBuffer(repeating: 0, count: count)) }
        }
        #expect(throws: WireError.self) { try Cancel(decoding: ByteBuffer(bytes: [0])) }
    }
}
