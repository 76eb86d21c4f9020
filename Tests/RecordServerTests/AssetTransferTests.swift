import Foundation
import NIOCore
import RecordModel
import RecordStore
import Testing
import WireProtocol

@testable import RecordServer

/// Uploads and downloads over real TLS, against the real engine and real files.
@Suite(.timeLimit(.minutes(10)))
struct AssetTransferTests {
    @Test(arguments: [0, 1, 300_000, 3_000_000])
    func `what was uploaded and named comes back, byte by byte`(bytes: Int) async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 0, bytes: 0)
            let sample = SampleAsset(bytes: bytes)
            let peer = try await server.signIn()
            let upload = try await peer.upload([sample], on: 1)
            #expect(upload.offsets == [0])
            #expect(upload.end == End())
            #expect(upload.progress.last == Progress(doneBytes: Int64(bytes), totalBytes: Int64(bytes)))
            try await peer.expectSaved("photo", naming: [sample], on: 3)
            let range = AssetRange(sha256: sample.asset.sha256)
            let download = try await peer.download([range], of: "photo", on: 5)
            #expect(download.end == End())
            #expect((download.received[0] ?? []) == sample.contents)
            #expect(download.progress.last == Progress(doneBytes: Int64(bytes), totalBytes: Int64(bytes)))
        }
    }

    @Test func `several assets of a request come one after the other, and ranges of them go back`()
        async throws
    {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 0, bytes: 0)
            let samples = [10, 0, 700_000, 1].enumerated().map { SampleAsset(bytes: $1, seed: UInt64($0)) }
            let peer = try await server.signIn()
            #expect(try await peer.upload(samples, on: 1).end == End())
            try await peer.expectSaved("photo", naming: samples, on: 3)
            let ranges = [
                AssetRange(sha256: samples[2].asset.sha256, offset: 600_000, length: 50_000),
                AssetRange(sha256: samples[0].asset.sha256, offset: 10),
                AssetRange(sha256: samples[1].asset.sha256),
                AssetRange(sha256: samples[0].asset.sha256, offset: 7),
            ]
            let download = try await peer.download(ranges, of: "photo", on: 5)
            #expect(download.end == End())
            #expect(download.received[0] == Array(samples[2].contents[600_000..<650_000]))
            #expect(download.received[1] == nil)
            #expect(download.received[2] == nil)
            #expect(download.received[3] == Array(samples[0].contents[7...]))
            #expect(download.progress.last == Progress(doneBytes: 50_003, totalBytes: 50_003))
        }
    }

    @Test func `an asset that the database has is not sent again`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 0, bytes: 0)
            let samples = [SampleAsset(bytes: 100, seed: 1), SampleAsset(bytes: 50, seed: 2)]
            let peer = try await server.signIn()
            #expect(try await peer.upload([samples[0]], on: 1).end == End())
            try await peer.send(.upload(samples), on: 3)
            var answer = TransferAnswer()
            try await peer.transfer(on: 3, &answer) { !$0.credits.isEmpty }
            #expect(answer.offsets == [100, 0])
            try await peer.send(.assetData(samples[1].contents, item: 1, offset: 0, on: 3))
            try await peer.transfer(on: 3, &answer)
            #expect(answer.end == End())
            let again = try await peer.upload(samples, on: 5)
            #expect(again.offsets == [100, 50])
            #expect(again.credits == [])
            #expect(again.end == End())
        }
    }

    @Test func `an upload that was cut off goes on on another connection`() async throws {
        try await ServerUnderTest.run { server in
            let sample = SampleAsset(bytes: 900_000)
            let first = try await server.signIn()
            try await first.send(.upload([sample]), on: 1)
            var answer = TransferAnswer()
            try await first.transfer(on: 1, &answer) { !$0.credits.isEmpty }
            try await first.send(.assetData(sample.contents[..<200_000], offset: 0, on: 1))
            try await first.send(.assetData(sample.contents[200_000..<400_000], offset: 200_000, on: 1))
            try await first.transfer(on: 1, &answer) { $0.credits.count > 1 }
            await first.close()
            let second = try await server.signIn()
            let rest = try await second.upload([sample], on: 1)
            #expect(rest.offsets == [400_000])
            #expect(rest.end == End())
        }
    }

    @Test(arguments: [true, false])
    func `an upload has a window of 2 MiB while nothing else travels, and of 1 MiB beside other requests`(
        isAlone: Bool
    ) async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 1, bytes: 100)
            let sample = SampleAsset(bytes: 8_000_000)
            let peer = try await server.signIn()
            try await peer.send(.upload([sample]), on: 1)
            var answer = TransferAnswer()
            var sent = 0
            var most = 0
            func room(_ answer: TransferAnswer) -> Int { answer.credits.reduce(-sent) { $0 + Int($1) } }
            let pieceBytes = 250_000
            for number in 0..<12 {
                if !isAlone { try await peer.send(.fetch(["0"]), on: UInt32(3 + 2 * number)) }
                try await peer.transfer(on: 1, &answer) { room($0) > 0 }
                most = max(most, room(answer))
                let start = number * pieceBytes
                let piece = sample.contents[start..<start + pieceBytes]
                try await peer.send(.assetData(piece, offset: Int64(start), on: 1))
                sent += AssetData.headerBytes + pieceBytes
            }
            let window = isAlone ? 2 << 20 : 1 << 20
            // All of it was written when as much is granted as ever is: a quarter is kept back.
            try await peer.transfer(on: 1, &answer) { room($0) >= window * 3 / 4 }
            most = max(most, room(answer))
            #expect((window * 3 / 4...window).contains(most) && answer.end == nil)
        }
    }

    @Test func `a download and small requests share a connection`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 1, bytes: 100)
            let sample = SampleAsset(bytes: 20_000_000)
            let peer = try await server.signIn()
            #expect(try await peer.upload([sample], on: 1, pieceBytes: 250_000).end == End())
            try await peer.expectSaved("photo", naming: [sample], on: 3)
            // 200 MB, because other tests may have the processors for a while.
            let file = AssetRange(sha256: sample.asset.sha256)
            let download = Operation.download(Array(repeating: file, count: 10), of: "photo")
            try await peer.send([.request(download, on: 5), .credit(300_000_000, on: 5)])
            var (bytes, bytesBefore) = (0, 0)
            while let frame = await peer.next() {
                if frame.stream == 5, frame.kind == .end { break }
                if frame.stream == 7, frame.kind == .end { bytesBefore = bytes }
                guard frame.kind == .assetData else { continue }
                if bytes == 0 { try await peer.send(.fetch(["0"]), on: 7) }
                bytes += frame.payload.readableBytes - AssetData.headerBytes
            }
            #expect(bytes == 200_000_000)
            #expect(bytesBefore > 0 && bytesBefore < bytes / 2)
        }
    }

    @Test func `files that are asked for together come whole, and one that is missing fails alone`()
        async throws
    {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 0, bytes: 0)
            // Small ones of which many fit a read, one of a read alone, and one larger than all
            // that is read ahead.
            let sizes = Array(repeating: 10_000, count: 60) + [0, 1, 150_000, 1_500_000]
            let samples = sizes.enumerated().map { SampleAsset(bytes: $1, seed: UInt64($0)) }
            let peer = try await server.signIn()
            #expect(try await peer.upload(samples, on: 1).end == End())
            try await peer.expectSaved("photos", naming: samples, on: 3)
            let wanted = samples.map { AssetRange(sha256: $0.asset.sha256) }
            let unknown = AssetRange(sha256: SampleAsset(bytes: 10_000, seed: 99).asset.sha256)
            let ranges = wanted[..<30] + [unknown] + wanted[30...]
            for (place, range) in ranges.enumerated() {
                try await peer.send(.download([range], of: "photos"), on: UInt32(5 + 2 * place))
            }
            let answers = try await peer.transfers(ranges.count)
            for (place, range) in ranges.enumerated() {
                let answer = try #require(answers[UInt32(5 + 2 * place)])
                guard let sample = samples.first(where: { $0.asset.sha256 == range.sha256 }) else {
                    #expect(answer.end?.failure?.code == .assetNotAvailable)
                    #expect(answer.received.isEmpty)
                    continue
                }
                #expect(answer.end == End())
                #expect((answer.received[0] ?? []) == sample.contents)
                #expect(answer.progress.last?.doneBytes == sample.asset.size)
            }
        }
    }

    @Test(arguments: [2, 300_000, 3_000_000])
    func `a file with other bytes than were uploaded is not sent to its end`(bytes: Int) async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 0, bytes: 0)
            let (sample, whole) = (SampleAsset(bytes: bytes), SampleAsset(bytes: 5_000, seed: 2))
            let peer = try await server.signIn()
            #expect(try await peer.upload([whole, sample], on: 1).end == End())
            try await peer.expectSaved("photo", naming: [whole, sample], on: 3)
            let files = try FileManager.default.subpathsOfDirectory(atPath: server.assetsPath)
                .map { server.assetsPath + "/" + $0 }
            let path = try #require(
                files.first { (try? Data(contentsOf: URL(filePath: $0)))?.count == bytes }
            )
            var contents = try Data(contentsOf: URL(filePath: path))
            contents[0] ^= 1
            try contents.write(to: URL(filePath: path))
            let ranges = [whole, sample].map { AssetRange(sha256: $0.asset.sha256) }
            let download = try await peer.download(ranges, of: "photo", on: 5)
            #expect(download.end?.failure?.code == .assetNotAvailable)
            #expect(download.end?.failure?.cause == .dependsOn(index: 1))
            #expect(download.received[0] == whole.contents)
            #expect((download.received[1] ?? []).count < bytes)
            // A part has no hash.
            let part = AssetRange(sha256: sample.asset.sha256, offset: Int64(bytes - 1))
            let rest = try await peer.download([part], of: "photo", on: 7)
            #expect(rest.end == End() && rest.received[0]?.count == 1)
            let damaged = server.server.metrics.first { $0.name == .assetsDamaged }
            #expect(damaged?.samples.first?.value == .number(1))
        }
    }

    @Test func `progress comes at most ten times a second, and rises`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 0, bytes: 0)
            let sample = SampleAsset(bytes: 30_000_000)
            let peer = try await server.signIn()
            let began = ContinuousClock.now
            let upload = try await peer.upload([sample], on: 1, pieceBytes: 250_000)
            let seconds = (ContinuousClock.now - began) / .seconds(1)
            #expect(Double(upload.progress.count) <= 10 * seconds + 2)
            let done = upload.progress.map(\.doneBytes)
            #expect(done == done.sorted())
            #expect(done.last == 30_000_000)
        }
    }
}
