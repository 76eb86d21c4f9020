import FileIO
import NIOCore
import RecordModel
import Testing
import WireProtocol

@testable import RecordClient

@Suite struct UploadTests {
    private static let piece = AssetPiece.bytesMax

    /// An upload whose server has said where to begin.
    private func started(
        _ sizes: Int...,
        from offsets: Int64...,
        files threads: FileThreads = .immediate
    ) throws -> (ScriptedServer, ScriptedConnection, StartedTransfer) {
        let server = ScriptedServer(files: threads)
        let upload = server.upload(MemoryFiles(sizes.map { .sample($0) }))
        let connection = try server.accept()
        _ = try connection.requests()
        try connection.send(.assetOffsets, stream: 1, AssetOffsets(offsets: offsets).encoded())
        return (server, connection, upload)
    }

    @Test func `nothing is sent before the server grants it, and no more than it grants and one frame`()
        throws
    {
        let (_, connection, upload) = try self.started(3 * Self.piece, from: 0)
        #expect(try connection.assetData().isEmpty)
        try connection.credit(1, on: 1)
        let first = try connection.assetData()
        #expect(first.map(\.offset) == [0] && first.map(\.bytes.readableBytes) == [Self.piece])
        try connection.credit(UInt32(Self.piece) + 11, on: 1)
        #expect(try connection.assetData().isEmpty)
        try connection.credit(1, on: 1)
        #expect(try connection.assetData().map(\.offset) == [Int64(Self.piece)])
        #expect(upload.answer.events.isEmpty)
    }

    @Test func `several assets are sent in order, each from where the server says`() throws {
        let server = ScriptedServer()
        let contents: [[UInt8]] = [.sample(1_000), .sample(0), .sample(50), .sample(500, from: 9)]
        let upload = server.upload(MemoryFiles(contents))
        let connection = try server.accept()
        let request = try connection.requests()
        let assets = contents.enumerated().map { Asset.sample(UInt8($0.offset), size: $0.element.count) }
        #expect(
            request.map(\.request.operation) == [
                .uploadAssets(UploadAssets(scope: .private, assets: assets))
            ]
        )
        try connection.offsets(400, 0, 50, 499, on: 1)
        try connection.credit(100_000, on: 1)
        let sent = try connection.assetData()
        #expect(sent.map(\.item) == [0, 3] && sent.map(\.offset) == [400, 499])
        #expect(
            sent.map { Array($0.bytes.readableBytesView) } == [
                Array(contents[0][400...]), [contents[3][499]],
            ]
        )
        try connection.progress(1_550, of: 1_550, on: 1)
        try connection.end(1)
        #expect(upload.answer.events == [.success])
        #expect(upload.files.progress == [Progress(doneBytes: 1_550, totalBytes: 1_550)])
    }

    @Test func `what the server has already is not sent`() throws {
        let (_, connection, upload) = try self.started(1_000, 20, from: 1_000, 20)
        try connection.credit(100_000, on: 1)
        try connection.progress(1_020, of: 1_020, on: 1)
        try connection.end(1)
        #expect(try connection.frames().isEmpty)
        #expect(upload.answer.events == [.success])
    }

    @Test func `eight pieces at most are in memory, and other requests go on while the socket is full`()
        throws
    {
        let files = HeldFiles()
        let (server, connection, _) = try self.started(20 * Self.piece, from: 0, files: files.threads)
        connection.socket(isWritable: false)
        try connection.credit(1 << 30, on: 1)
        for _ in 0..<5 {
            files.work()
            server.tick()
        }
        #expect(files.waiting == 0)
        #expect(try connection.frames().isEmpty)
        let fetch = server.start(.fetch())
        try connection.items(.deleted(0), on: 3)
        try connection.end(3)
        #expect(fetch.answer.events == [.items([0]), .success])
        #expect(try connection.frames().map(\.kind) == [.request])
        connection.socket(isWritable: true)
        #expect(try connection.assetData().count == 8)
    }

    @Test func `uploads take turns, a piece each`() throws {
        let server = ScriptedServer()
        _ = server.upload(MemoryFiles([.sample(4 * Self.piece)]))
        _ = server.upload(MemoryFiles([.sample(4 * Self.piece)]))
        let connection = try server.accept()
        _ = try connection.requests()
        connection.socket(isWritable: false)
        for stream: UInt32 in [1, 3] {
            try connection.offsets(0, on: stream)
            try connection.credit(1 << 30, on: stream)
        }
        connection.socket(isWritable: true)
        let streams = try connection.frames().map(\.stream)
        #expect(streams.prefix(4) == [1, 3, 1, 3] && streams.count == 8)
    }

    @Test func `after a lost connection an upload continues where the server says`() throws {
        let (server, first, upload) = try self.started(2 * Self.piece, from: 0)
        try first.credit(1 << 20, on: 1)
        #expect(try first.assetData().count == 2)
        try first.progress(1_000, of: 2 * Self.piece, on: 1)
        first.breakOff()
        let second = try server.accept(2)
        #expect(try second.requests().count == 1)
        try second.offsets(Int64(Self.piece) + 7, on: 1)
        #expect(try second.assetData().isEmpty)
        try second.credit(1 << 20, on: 1)
        let sent = try second.assetData()
        #expect(sent.map(\.offset) == [Int64(Self.piece) + 7])
        #expect(sent.map(\.bytes.readableBytes) == [Self.piece - 7])
        try second.end(1)
        #expect(upload.answer.events == [.success])
    }

    @Test func `a piece that was read for a lost connection is not sent on the next one`() throws {
        let files = HeldFiles()
        let (server, first, _) = try self.started(2 * Self.piece, from: 0, files: files.threads)
        try first.credit(1 << 20, on: 1)
        first.breakOff()
        let second = try server.accept(2)
        _ = try second.requests()
        try second.offsets(5, on: 1)
        try second.credit(1 << 20, on: 1)
        files.work()
        server.tick()
        #expect(try second.assetData().map(\.offset) == [5, 5 + Int64(Self.piece)])
    }

    @Test func `a file that fails ends the upload and tells the server`() throws {
        let server = ScriptedServer()
        let upload = server.upload(MemoryFiles([.sample(10)], failure: .modified("it changed")))
        let connection = try server.accept()
        _ = try connection.requests()
        try connection.offsets(0, on: 1)
        #expect(try connection.frames().map(\.kind) == [.cancel])
        #expect(upload.answer.events == [.failure(.fileFailed(.modified("it changed")))])
        try connection.end(1, Failure(code: .operationCancelled, message: "", retry: .never))
        #expect(connection.isOpen)
    }

    @Test func `cancelling sends a cancel and no more bytes`() throws {
        let (server, connection, upload) = try self.started(3 * Self.piece, from: 0)
        try connection.credit(1, on: 1)
        _ = try connection.frames()
        upload.handle?.cancel()
        server.tick()
        #expect(try connection.frames().map(\.kind) == [.cancel])
        try connection.credit(1 << 20, on: 1)
        #expect(try connection.frames().isEmpty)
        #expect(upload.answer.events == [.failure(.cancelled)])
    }

    @Test func `an upload that moves is not timed out, and a silent one is`() throws {
        let (server, connection, upload) = try self.started(4 * Self.piece, from: 0)
        for _ in 0..<5 {
            server.pass(.seconds(30))
            try connection.credit(1, on: 1)
        }
        #expect(upload.answer.events.isEmpty)
        server.pass(.seconds(61))
        let isTimedOut =
            if case .failure(.unreachable) = upload.answer.events.first { true } else { false }
        #expect(isTimedOut)
    }

    @Test
    func `an upload is not timed out while the server reports that it waits or is recovered`()
        throws
    {
        let server = ScriptedServer()
        let upload = server.upload(MemoryFiles([.sample(1_000)]))
        let connection = try server.accept()
        _ = try connection.requests()
        for done in [0, 0, 0, 0, 0, 100, 400] {
            server.pass(.seconds(25))
            try connection.progress(done, of: 1_000, on: 1)
        }
        #expect(try connection.frames().allSatisfy { $0.kind == .ping })
        try connection.offsets(400, on: 1)
        try connection.credit(1 << 20, on: 1)
        #expect(try connection.assetData().map(\.offset) == [400])
        try connection.end(1)
        #expect(upload.answer.events == [.success])
    }

    @Test func `a stream's credit and data go on while the connection drains`() throws {
        let (_, connection, upload) = try self.started(Self.piece, from: 0)
        try connection.goAway(.drain)
        try connection.credit(1, on: 1)
        #expect(try connection.assetData().count == 1)
        try connection.end(1)
        #expect(upload.answer.events == [.success] && !connection.isOpen)
    }

    enum Misdeed: CaseIterable {
        case offsetsTwice, tooFewOffsets, offsetBeyondTheEnd, progressBeyondTheEnd, offsetsBehindProgress
        case progressBack
        case progressAhead, progressOfAnotherTotal, endBeforeTheEnd, dataOnUpload, credit
    }

    @Test(arguments: Misdeed.allCases)
    func `a server that breaks the rules of an upload is disconnected`(misdeed: Misdeed) throws {
        let server = ScriptedServer()
        let upload = server.upload(MemoryFiles([.sample(1_000)]))
        let connection = try server.accept()
        _ = try connection.requests()
        switch misdeed {
        case .tooFewOffsets, .offsetBeyondTheEnd, .progressBeyondTheEnd, .offsetsBehindProgress: break
        default: try connection.offsets(100, on: 1)
        }
        switch misdeed {
        case .offsetsTwice: try connection.offsets(100, on: 1)
        case .tooFewOffsets: try connection.send(.assetOffsets, stream: 1, ByteBuffer())
        case .offsetBeyondTheEnd: try connection.offsets(1_001, on: 1)
        case .progressBeyondTheEnd: try connection.progress(1_001, of: 1_001, on: 1)
        case .offsetsBehindProgress:
            try connection.progress(101, of: 1_000, on: 1)
            #expect(connection.isOpen)
            try connection.offsets(100, on: 1)
        case .progressBack:
            try connection.progress(100, of: 1_000, on: 1)
            #expect(connection.isOpen)
            try connection.progress(99, of: 1_000, on: 1)
        case .progressAhead: try connection.progress(101, of: 1_000, on: 1)
        case .progressOfAnotherTotal: try connection.progress(100, of: 900, on: 1)
        case .endBeforeTheEnd: try connection.end(1)
        case .dataOnUpload: try connection.data([1], at: 0, on: 1)
        case .credit: try connection.credit(0, on: 1)
        }
        #expect(!connection.isOpen)
        let isViolation =
            if case .failure(.protocolViolation) = upload.answer.events.last { true } else { false }
        #expect(isViolation)
    }
}
