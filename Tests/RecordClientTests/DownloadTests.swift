import FileIO
import NIOCore
import RecordModel
import Synchronization
import Testing
import WireProtocol

@testable import RecordClient

@Suite struct DownloadTests {
    private static let window = 1024 * 1024

    private func range(_ number: UInt8, _ offset: Int64, _ length: Int64) -> AssetRange {
        AssetRange(sha256: Array(repeating: number, count: 32), offset: offset, length: length)
    }

    private func asked(_ ranges: AssetRange...) -> RecordModel.Operation {
        .downloadAssets(DownloadAssets(scope: .private, record: .sample, ranges: ranges))
    }

    @Test func `bytes go to the file in order, and ranges without bytes are not asked for`() throws {
        let server = ScriptedServer()
        let download = server.download(0..<0, 10..<20, 5..<5, 0..<3, to: MemoryFiles([[], [], [], []]))
        let connection = try server.accept()
        #expect(
            try connection.requests().map(\.request.operation) == [
                self.asked(self.range(1, 10, 10), self.range(3, 0, 3))
            ]
        )
        try connection.data(.sample(4, from: 10), at: 10, on: 1)
        try connection.progress(4, of: 13, on: 1)
        try connection.data(.sample(6, from: 14), at: 14, on: 1)
        try connection.data(.sample(3), item: 1, at: 0, on: 1)
        try connection.progress(13, of: 13, on: 1)
        #expect(download.answer.events.isEmpty)
        try connection.end(1)
        #expect(download.files.bytes == [[], .sample(10, from: 10), [], .sample(3)])
        #expect(download.answer.events == [.success])
        #expect(download.files.progress.map(\.doneBytes) == [4, 13])
    }

    @Test(arguments: [1_000, 200_000])
    func `a digest gets the bytes that are written, and the end waits for it`(size: Int) throws {
        let files = HeldFiles()
        let server = ScriptedServer(files: files.threads)
        let download = server.download(0..<Int64(size), to: MemoryFiles([[]]))
        let connection = try server.accept()
        _ = try connection.requests()
        let half = size / 2
        for start in [0, half] {
            try connection.data(.sample(half, from: start), at: Int64(start), on: 1)
            server.tick()
            files.work()
            #expect(download.files.digested == [0: .sample(start + half)])
            server.tick()
        }
        try connection.progress(size, of: size, on: 1)
        try connection.end(1)
        files.work()
        server.tick()
        #expect(download.files.bytes == [.sample(size)] && download.files.digested == [0: .sample(size)])
        #expect(download.answer.events == [.success])
    }

    @Test func `a download of nothing needs no server`() throws {
        let server = ScriptedServer()
        let download = server.download(7..<7, to: MemoryFiles([[]]))
        #expect(download.answer.events == [.success] && server.connections.isEmpty)
    }

    @Test func `credit follows what is written, and the end waits for it`() throws {
        let files = HeldFiles()
        let server = ScriptedServer(files: files.threads)
        let size = Self.window
        let download = server.download(0..<Int64(size), to: MemoryFiles([[]]))
        let connection = try server.accept()
        _ = try connection.requests()
        let quarter = size / 4
        try connection.data(.sample(quarter), at: 0, on: 1)
        try connection.data(.sample(quarter, from: quarter), at: Int64(quarter), on: 1)
        #expect(try connection.frames().isEmpty)
        files.work()
        server.tick()
        files.work()
        server.tick()
        let grants = try connection.frames()
        #expect(grants.map(\.kind) == [.credit] && grants.map(\.stream) == [1])
        let granted = try grants.map { try Credit(decoding: $0.payload).bytes }
        // Nothing else travels: the window grows with the first that was written.
        let grown = DownloadWindow.bytesMax - size
        #expect(granted == [UInt32(grown + quarter + AssetData.headerBytes)])
        for offset in [2 * quarter, 3 * quarter] {
            try connection.data(.sample(quarter, from: offset), at: Int64(offset), on: 1)
        }
        try connection.end(1)
        #expect(download.answer.events.isEmpty)
        files.work()
        server.tick()
        #expect(download.answer.events == [.success])
        #expect(download.files.bytes == [.sample(size)])
    }

    @Test func `a slow file delays no other request, and no more bytes arrive than the window`()
        throws
    {
        let files = HeldFiles()
        let server = ScriptedServer(files: files.threads)
        let download = server.download(0..<Int64(4 * Self.window), to: MemoryFiles([[]]))
        let connection = try server.accept()
        _ = try connection.requests()
        for number in 0..<4 {
            let offset = number * Self.window / 4
            try connection.data(.sample(Self.window / 4, from: offset), at: Int64(offset), on: 1)
        }
        let fetch = server.start(.fetch())
        try connection.items(.deleted(0), on: 3)
        try connection.end(3)
        #expect(fetch.answer.events == [.items([0]), .success])
        // The window is used up: another frame is beyond credit.
        try connection.data([1], at: Int64(Self.window), on: 1)
        #expect(!connection.isOpen)
        #expect(download.answer.events.count == 1)
    }

    @Test func `after a lost connection a download continues after the last written byte`() throws {
        let files = HeldFiles()
        let server = ScriptedServer(files: files.threads)
        let download = server.download(0..<100, 50..<60, to: MemoryFiles([[], []]))
        let first = try server.accept()
        _ = try first.requests()
        try first.data(.sample(30), at: 0, on: 1)
        // These wait behind those that are being written, and are asked for again.
        try first.data(.sample(30, from: 30), at: 30, on: 1)
        try first.progress(60, of: 110, on: 1)
        first.breakOff()
        let second = try server.accept(2)
        #expect(
            try second.requests().map(\.request.operation) == [
                self.asked(self.range(0, 30, 70), self.range(1, 50, 10))
            ]
        )
        files.work()
        server.tick()
        try second.data(.sample(70, from: 30), at: 30, on: 1)
        try second.progress(70, of: 80, on: 1)
        files.work()
        server.tick()
        second.breakOff()
        let third = try server.accept(3)
        #expect(try third.requests().map(\.request.operation) == [self.asked(self.range(1, 50, 10))])
        try third.data(.sample(10, from: 50), at: 50, on: 1)
        files.work()
        server.tick()
        try third.end(1)
        #expect(download.answer.events == [.success])
        #expect(download.files.bytes == [.sample(100), .sample(10, from: 50)])
        #expect(download.files.progress.map(\.doneBytes) == [60, 100])
    }

    @Test
    func `small files that arrive together are written together, and each download ends with its own file`()
        throws
    {
        let files = HeldFiles()
        let server = ScriptedServer(files: files.threads)
        let refused = MemoryFiles([[]], failure: .failed("no space left"))
        let memories = [MemoryFiles([[]]), refused, MemoryFiles([[]])]
        let downloads = memories.map { server.download(0..<10, to: $0) }
        let connection = try server.accept()
        _ = try connection.requests()
        var read = ByteBuffer()
        for stream in [UInt32(1), 3, 5] {
            let data = AssetData(item: 0, offset: 0, bytes: ByteBuffer(bytes: [UInt8].sample(10)))
            for (kind, payload) in [(FrameKind.assetData, data.encoded()), (.end, End().encoded())] {
                FrameEncoder.write(Frame(kind: kind, stream: stream, payload: payload), into: &read)
            }
        }
        try connection.send(read)
        #expect(files.waiting == 1 && downloads.allSatisfy { $0.answer.events.isEmpty })
        // They have ended on the connection: nothing of them is asked for again.
        connection.breakOff()
        files.work()
        server.tick()
        #expect(
            downloads.map(\.answer.events) == [
                [.success], [.failure(.fileFailed(.failed("no space left")))], [.success],
            ]
        )
        #expect(downloads.map(\.files.bytes) == [[.sample(10)], [[]], [.sample(10)]])
    }

    @Test func `credit is granted while the rest of the bytes is being written`() throws {
        let files = HeldFiles()
        let server = ScriptedServer(files: files.threads)
        let eighth = Self.window / 8
        let download = server.download(0..<Int64(2 * Self.window), to: MemoryFiles([[]]))
        let connection = try server.accept()
        _ = try connection.requests()
        for number in 0..<8 {
            let offset = number * eighth
            try connection.data(.sample(eighth, from: offset), at: Int64(offset), on: 1)
        }
        // The first two by themselves, each written and digested; those that came meanwhile together.
        #expect(files.waiting == 2)
        files.work()
        #expect(try connection.frames().isEmpty)
        server.tick()
        #expect(download.files.bytes == [.sample(2 * eighth)] && files.waiting == 2)
        let granted = try connection.frames().map { try Credit(decoding: $0.payload).bytes }
        #expect(
            granted == [UInt32(DownloadWindow.bytesMax - Self.window + eighth + AssetData.headerBytes)]
        )
        files.work()
        server.tick()
        #expect(download.files.bytes == [.sample(8 * eighth)])
        #expect(download.files.digested == [0: .sample(8 * eighth)])
    }

    /// Sends pieces of a quarter of the announced window, and counts what is granted for them.
    private func send(
        _ quarters: Range<Int>,
        _ connection: ScriptedConnection,
        on stream: UInt32
    ) throws -> Int {
        var granted = 0
        for number in quarters {
            let offset = number * Self.window / 4
            try connection.data(.sample(Self.window / 4, from: offset), at: Int64(offset), on: stream)
            for frame in try connection.frames() {
                granted += Int(try Credit(decoding: frame.payload).bytes)
            }
        }
        return granted - quarters.count * (Self.window / 4 + AssetData.headerBytes)
    }

    @Test func `a window grows while nothing else travels, and has its announced size beside other requests`()
        throws
    {
        let server = ScriptedServer()
        let download = server.download(0..<Int64(40 * Self.window), to: MemoryFiles([[]]))
        let connection = try server.accept()
        _ = try connection.requests()
        let grown = DownloadWindow.bytesMax - Self.window
        var open = try self.send(0..<4, connection, on: 1)
        #expect((grown - DownloadWindow.bytesMax / 2...grown).contains(open))
        _ = server.start(.fetch())
        _ = try connection.requests()
        // Credit that was given is used up before there is more.
        open += try self.send(4..<36, connection, on: 1)
        #expect((-Self.window / 2...0).contains(open))
        server.pass(DownloadWindow.quiet)
        open += try self.send(36..<40, connection, on: 1)
        #expect((grown - DownloadWindow.bytesMax / 2...grown).contains(open))
        #expect(connection.isOpen && download.answer.events.isEmpty)
    }

    @Test func `a window that has grown is granted in halves`() throws {
        let server = ScriptedServer()
        let download = server.download(0..<Int64(40 * Self.window), to: MemoryFiles([[]]))
        let connection = try server.accept()
        _ = try connection.requests()
        var credits = 0
        for number in 0..<96 {
            let offset = number * Self.window / 4
            try connection.data(.sample(Self.window / 4, from: offset), at: Int64(offset), on: 1)
            credits += try connection.frames().count
        }
        // The first makes it larger; then one for each 4 MiB of 24.
        #expect((6...7).contains(credits) && download.answer.events.isEmpty)
    }

    @Test func `many downloads share the window, and none has less than was announced`() {
        var window = DownloadWindow()
        let now = NIODeadline.uptimeNanoseconds(5_000_000_000)
        #expect([1, 2, 4].map { window.bytes(downloads: $0, now: now) } == [8 << 20, 8 << 20, 4 << 20])
        window.requestSent(now: now)
        #expect(window.bytes(downloads: 1, now: now + DownloadWindow.quiet - .nanoseconds(1)) == nil)
        #expect(window.bytes(downloads: 1, now: now + DownloadWindow.quiet) == 8 << 20)
    }

    @Test func `a download whose share is smaller than the announced window keeps that window`() {
        var machine = ClientStateMachine(windows: Windows(connectionBytes: 1_000, streamBytes: 1_000))
        _ = machine.connected()
        _ = machine.welcomeReceived(
            Welcome(
                version: 1,
                server: "",
                userRecordName: "",
                serverTimeMilliseconds: 0,
                limits: .defaults,
                windows: .defaults
            )
        )
        machine.requestSent(stream: 1, payloadBytes: 1, transfer: .download(DownloadStream([0..<5_000])))
        let bytes = ByteBuffer(repeating: 0, count: 1_000 - AssetData.headerBytes)
        let data = machine.assetDataReceived(AssetData(item: 0, offset: 0, bytes: bytes), stream: 1)
        #expect(data == .deliver)
        let grant = machine.assetDataConsumed(payloadBytes: 1_000, stream: 1, window: 10)
        #expect(grant == 1_000)
    }

    @Test func `a failed write ends the download after all other writes have ended`()
        throws
    {
        let files = HeldFiles()
        let server = ScriptedServer(files: files.threads)
        let eighth = Self.window / 8
        let memory = MemoryFiles([[]], failure: .failed("no space left"))
        let download = server.download(0..<Int64(2 * Self.window), to: memory)
        let connection = try server.accept()
        _ = try connection.requests()
        for number in 0..<3 {
            let offset = number * eighth
            try connection.data(.sample(eighth, from: offset), at: Int64(offset), on: 1)
        }
        #expect(files.waiting == 2)
        files.work()
        server.tick()
        #expect(files.waiting == 0 && memory.bytes == [[]])
        #expect(try connection.frames().map(\.kind) == [.cancel])
        #expect(download.answer.events == [.failure(.fileFailed(.failed("no space left")))])
    }

    @Test func `a connection that is lost after the last byte and before the end loses nothing`() throws {
        let server = ScriptedServer()
        let download = server.download(0..<10, to: MemoryFiles([[]]))
        let first = try server.accept()
        _ = try first.requests()
        try first.data(.sample(10), at: 0, on: 1)
        first.breakOff()
        _ = try server.accept(2)
        #expect(download.answer.events == [.success])
    }

    @Test func `a file that cannot be written ends the download and tells the server`() throws {
        let server = ScriptedServer()
        let download = server.download(0..<10, to: MemoryFiles([[]], failure: .failed("no space left")))
        let connection = try server.accept()
        _ = try connection.requests()
        try connection.data(.sample(5), at: 0, on: 1)
        #expect(try connection.frames().map(\.kind) == [.cancel])
        #expect(download.answer.events == [.failure(.fileFailed(.failed("no space left")))])
        // What is on its way already is dropped.
        try connection.data(.sample(5, from: 5), at: 5, on: 1)
        try connection.end(1)
        #expect(connection.isOpen)
    }

    @Test func `cancelling sends a cancel, and later bytes are dropped`() throws {
        let server = ScriptedServer()
        let download = server.download(0..<100, to: MemoryFiles([[]]))
        let connection = try server.accept()
        _ = try connection.requests()
        download.handle?.cancel()
        server.tick()
        #expect(try connection.frames().map(\.kind) == [.cancel])
        try connection.data(.sample(10), at: 0, on: 1)
        try connection.end(1, Failure(code: .operationCancelled, message: "", retry: .never))
        #expect(connection.isOpen && download.files.bytes == [[]])
        #expect(download.answer.events == [.failure(.cancelled)])
    }

    enum Misdeed: CaseIterable {
        case gap, overlap, anotherItem, moreThanAsked, progressBack, progressAhead, progressOfAnotherTotal
        case endBeforeTheEnd, offsets, header, stream
    }

    @Test(arguments: Misdeed.allCases)
    func `a server that breaks the rules of a download is disconnected`(misdeed: Misdeed) throws {
        let server = ScriptedServer()
        let download = server.download(0..<100, 0..<10, to: MemoryFiles([[], []]))
        let connection = try server.accept()
        _ = try connection.requests()
        try connection.data(.sample(10), at: 0, on: 1)
        switch misdeed {
        case .gap: try connection.data([1], at: 11, on: 1)
        case .overlap: try connection.data([1], at: 9, on: 1)
        case .anotherItem: try connection.data([1], item: 1, at: 0, on: 1)
        case .moreThanAsked: try connection.data(.sample(91, from: 10), at: 10, on: 1)
        case .progressBack:
            try connection.progress(10, of: 110, on: 1)
            #expect(connection.isOpen)
            try connection.progress(9, of: 110, on: 1)
        case .progressAhead: try connection.progress(11, of: 110, on: 1)
        case .progressOfAnotherTotal: try connection.progress(10, of: 100, on: 1)
        case .endBeforeTheEnd: try connection.end(1)
        case .offsets: try connection.offsets(0, on: 1)
        case .header: try connection.send(.assetData, stream: 1, ByteBuffer(repeating: 0, count: 12))
        case .stream: try connection.data([1], at: 10, on: 3)
        }
        #expect(!connection.isOpen)
        let isViolation =
            if case .failure(.protocolViolation) = download.answer.events.last { true } else { false }
        #expect(isViolation)
    }
}
