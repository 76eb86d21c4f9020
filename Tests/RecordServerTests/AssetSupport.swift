import Crypto
import NIOCore
import RecordModel
import TestSupport
import Testing
import WireProtocol

/// Contents of an asset, the same for the same seed.
struct SampleAsset {
    let contents: [UInt8]
    var asset: Asset

    init(bytes: Int, seed: UInt64 = 1) {
        var generator = SeededGenerator(seed: seed)
        // Of a length that no piece and no chunk is a multiple of.
        let block = (0..<4_099).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var contents: [UInt8] = []
        contents.reserveCapacity(bytes + block.count)
        while contents.count < bytes { contents += block }
        self.contents = Array(contents.prefix(bytes))
        self.asset = Asset(sha256: Array(SHA256.hash(data: self.contents)), size: Int64(bytes))
    }
}

extension Operation {
    static func upload(_ assets: [SampleAsset], scope: DatabaseScope = .private) -> Operation {
        .uploadAssets(UploadAssets(scope: scope, assets: assets.map(\.asset)))
    }

    static func download(
        _ ranges: [AssetRange],
        of name: String,
        scope: DatabaseScope = .private
    ) -> Operation {
        .downloadAssets(
            DownloadAssets(
                scope: scope,
                record: RecordID(zone: ServerUnderTest.zone, recordName: name),
                ranges: ranges
            )
        )
    }

    /// A record that names assets, in the field `files`.
    static func save(_ name: String, naming assets: [SampleAsset]) -> Operation {
        let files = Field(name: "files", value: .assetList(assets.map(\.asset)))
        return .modifyRecords(
            ModifyRecords(
                scope: .private,
                saves: [
                    RecordSave(
                        id: RecordID(zone: ServerUnderTest.zone, recordName: name),
                        recordType: "Photo",
                        changes: RecordBody([files])
                    )
                ]
            )
        )
    }
}

extension Frame {
    static func assetData(
        _ bytes: some Sequence<UInt8>,
        item: UInt32 = 0,
        offset: Int64,
        on stream: UInt32
    ) -> Frame {
        let data = AssetData(item: item, offset: offset, bytes: ByteBuffer(bytes: bytes))
        return Frame(kind: .assetData, stream: stream, payload: data.encoded())
    }
}

/// What came on one stream of a transfer.
struct TransferAnswer {
    var offsets: [Int64] = []
    var credits: [UInt32] = []
    var progress: [Progress] = []
    /// By item, the bytes that came; they came in order.
    var received: [UInt32: [UInt8]] = [:]
    var end: End?
}

extension TestPeer {
    /// Takes frames of a stream until the body is content with them, or it has ended.
    func transfer(
        on stream: UInt32,
        _ answer: inout TransferAnswer,
        until isEnough: (TransferAnswer) -> Bool = { _ in false }
    ) async throws {
        while answer.end == nil, !isEnough(answer) {
            guard let frame = await self.next() else { throw UnexpectedFrame(frame: nil) }
            guard frame.stream == stream else { continue }
            try await self.take(frame, &answer)
        }
    }

    /// Takes frames until so many transfers have ended.
    ///
    /// - Returns: What came, by stream.
    func transfers(_ count: Int) async throws -> [UInt32: TransferAnswer] {
        var answers: [UInt32: TransferAnswer] = [:]
        while answers.values.count(where: { $0.end != nil }) < count {
            guard let frame = await self.next() else { throw UnexpectedFrame(frame: nil) }
            try await self.take(frame, &answers[frame.stream, default: TransferAnswer()])
        }
        return answers
    }

    private func take(_ frame: Frame, _ answer: inout TransferAnswer) async throws {
        guard answer.end == nil else { throw UnexpectedFrame(frame: frame) }
        switch frame.kind {
        case .assetOffsets: answer.offsets = try AssetOffsets(decoding: frame.payload).offsets
        case .credit: answer.credits.append(try Credit(decoding: frame.payload).bytes)
        case .progress: answer.progress.append(try Progress(decoding: frame.payload))
        case .end: answer.end = try End(decoding: frame.payload)
        case .assetData:
            let data = try AssetData(decoding: frame.payload)
            answer.received[data.item, default: []] += Array(data.bytes.readableBytesView)
            try await self.send(.credit(UInt32(frame.payload.readableBytes), on: frame.stream))
        default: throw UnexpectedFrame(frame: frame)
        }
    }

    /// Uploads what is missing of some assets, as far as the window goes, to the end.
    ///
    /// - Returns: All that came on the stream.
    func upload(
        _ assets: [SampleAsset],
        on stream: UInt32,
        pieceBytes: Int = 100_000
    ) async throws -> TransferAnswer {
        try await self.send(.upload(assets), on: stream)
        var answer = TransferAnswer()
        try await self.transfer(on: stream, &answer) { !$0.offsets.isEmpty }
        var sentBytes = 0
        for (item, offset) in answer.offsets.enumerated() {
            let contents = assets[item].contents
            for start in stride(from: Int(offset), to: contents.count, by: pieceBytes) {
                try await self.transfer(on: stream, &answer) {
                    $0.credits.reduce(0) { $0 + Int($1) } > sentBytes
                }
                guard answer.end == nil else { return answer }
                let piece = contents[start..<min(start + pieceBytes, contents.count)]
                try await self.send(
                    .assetData(piece, item: UInt32(item), offset: Int64(start), on: stream)
                )
                sentBytes += AssetData.headerBytes + piece.count
            }
        }
        try await self.transfer(on: stream, &answer)
        return answer
    }

    func download(
        _ ranges: [AssetRange],
        of name: String,
        on stream: UInt32
    ) async throws -> TransferAnswer {
        try await self.send(.download(ranges, of: name), on: stream)
        var answer = TransferAnswer()
        try await self.transfer(on: stream, &answer)
        return answer
    }
}

extension TestPeer {
    /// Saves a record that names assets.
    func expectSaved(_ name: String, naming assets: [SampleAsset], on stream: UInt32) async throws {
        try await self.send(.save(name, naming: assets), on: stream)
        let saved = try await self.answer(on: stream)
        guard case .recordSaved? = saved.items.first?.outcome else {
            Issue.record("\(saved)")
            return
        }
    }

    /// Asks to upload, and awaits the permission to send.
    func beginUpload(_ assets: [SampleAsset], on stream: UInt32) async throws -> TransferAnswer {
        try await self.send(.upload(assets), on: stream)
        var answer = TransferAnswer()
        try await self.transfer(on: stream, &answer) { !$0.credits.isEmpty }
        return answer
    }
}
