import Foundation
import TestSupport
import Testing

/// A program that saves and fetches a file, and its server, killed while they do: what is durable
/// then is never sent again, to the byte.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct AssetKillTests {
    private static let chunks: Int64 = 14

    /// Kills at random bytes; more of them where somebody has the time.
    private static var rounds: Int {
        ProcessInfo.processInfo.environment["TIDEMARK_CRASH_ROUNDS"].flatMap { Int($0) } ?? 12
    }

    @Test(arguments: KillScene.Victim.allCases)
    func `an upload that dies at every boundary of a chunk goes on at that boundary`(
        victim: KillScene.Victim
    ) async throws {
        let size = Self.chunks * KillScene.chunk + 99
        let scene = try await KillScene(bytes: size, seed: 1)
        let boundaries = (0...Self.chunks).map { $0 * KillScene.chunk } + [size]
        scene.tap.stop(TransferTap.Stop(direction: .toServer, offset: 0, holdsEnds: true))
        for (number, boundary) in boundaries.enumerated() {
            scene.tap.stop(TransferTap.Stop(direction: .toServer, offset: boundary, holdsEnds: true))
            try await scene.wait("the upload is at \(boundary)") {
                let lives = scene.tap.lives(.toServer)
                return lives.count == number + 1 && lives[number].end == boundary
            }
            try await scene.wait("\(boundary) is durable") { try scene.stored.durable() == boundary }
            if boundary == size { try await scene.wait("the end") { scene.tap.heldEnds == 1 } }
            try await scene.kill(victim) {
                let durable = try scene.stored.durable()
                #expect(durable == boundary)
            }
        }
        scene.tap.stop(nil)
        try await scene.finish()
        let lives = scene.tap.lives(.toServer)
        #expect(lives.map(\.start) == [0] + boundaries)
        // Every byte has travelled once.
        #expect(lives.reduce(0) { $0 + $1.end - $1.start } == size)
        #expect(lives.allSatisfy { $0.toldBytes <= $0.end })
        try await scene.expectNoOrphan()
    }

    @Test(arguments: KillScene.Victim.allCases)
    func `a download that dies at every boundary of a chunk goes on at that boundary`(
        victim: KillScene.Victim
    ) async throws {
        let size = Self.chunks * KillScene.chunk + 99
        let scene = try await KillScene(bytes: size, seed: 2)
        let boundaries = (0...Self.chunks).map { $0 * KillScene.chunk } + [size]
        scene.tap.stop(TransferTap.Stop(direction: .toClient, offset: 0, holdsEnds: true))
        for (number, boundary) in boundaries.enumerated() {
            scene.tap.stop(TransferTap.Stop(direction: .toClient, offset: boundary, holdsEnds: true))
            try await scene.wait("the download is at \(boundary)") {
                let lives = scene.tap.lives(.toClient)
                return lives.count == number + 1 && lives[number].end == boundary
            }
            try await scene.wait("\(boundary) is on disk") {
                ServerFiles.partialBytes(in: scene.cache) == boundary
            }
            if boundary == size { try await scene.wait("the end") { scene.tap.heldEnds == 1 } }
            try await scene.kill(victim) {
                #expect(ServerFiles.partialBytes(in: scene.cache) == boundary)
            }
        }
        scene.tap.stop(nil)
        try await scene.finish()
        let lives = scene.tap.lives(.toClient)
        // A program with all bytes asks for none.
        #expect(lives.map(\.start) == [0] + boundaries.dropLast())
        #expect(lives.reduce(0) { $0 + $1.end - $1.start } == size)
        // A program that was killed asks again whether the server has the file, which takes no byte.
        let uploads = scene.tap.lives(.toServer)
        #expect(uploads.reduce(0) { $0 + $1.end - $1.start } == size)
        try await scene.expectNoOrphan()
    }

    @Test
    func `kills at random bytes cost nothing that was durable, and the file arrives whole`()
        async throws
    {
        var generator = SeededGenerator.fromEnvironment()
        print("AssetKillTests: SEED=\(generator.seed), \(Self.rounds) kills")
        let size = Self.chunks * KillScene.chunk + Int64.random(in: 1..<KillScene.chunk, using: &generator)
        let scene = try await KillScene(bytes: size, seed: generator.next())
        let marks = (0..<Self.rounds).map { _ in Int64.random(in: 1..<2 * size, using: &generator) }.sorted()
        var kills = RandomKills(scene: scene, generator: generator)
        for mark in marks {
            try await kills.kill(at: mark < size ? mark : mark - size, mark < size ? .toServer : .toClient)
        }
        scene.tap.stop(nil)
        try await scene.finish()
        try await scene.expectNoOrphan()
    }
}

/// Kills of which nobody knows how far the dead has come.
private struct RandomKills {
    let scene: KillScene
    var generator: SeededGenerator

    /// Lets a transfer go on to a byte, kills one side somewhere about then, and compares where the
    /// next one begins with what is on disk.
    mutating func kill(at offset: Int64, _ direction: TransferTap.Direction) async throws {
        let tap = self.scene.tap
        // What a transfer has sent beyond this mark, a kill of before has cost it.
        tap.stop(TransferTap.Stop(direction: direction, offset: offset, holdsEnds: true))
        try await self.scene.wait("a transfer is at \(offset)") {
            tap.lives(direction).last.map { $0.end >= offset } ?? false
        }
        try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000, using: &self.generator)))
        let victim = Bool.random(using: &self.generator) ? KillScene.Victim.server : .client
        let count = tap.lives(direction).count
        // The next one says where it begins, and waits there.
        tap.stop(TransferTap.Stop(direction: direction, offset: 0, holdsEnds: true))
        var durable: Int64 = 0
        try await self.scene.kill(victim) { durable = try self.durable(direction) }
        try await self.scene.wait("another transfer") { tap.lives(direction).count > count }
        let lives = tap.lives(direction)
        if (direction == .toClient) == (victim == .server) {
            // The side that lives may have written after that, and then said where to go on.
            durable = lives[count].start
            try await self.scene.wait("as much on disk") { try self.durable(direction) == durable }
        } else {
            #expect(lives[count].start == durable, "\(victim) at \(offset)")
        }
        #expect(durable >= lives[count - 1].toldBytes || direction == .toClient, "\(victim) at \(offset)")
        #expect(lives[count].start <= lives.prefix(count).map(\.end).max() ?? 0)
    }

    private func durable(_ direction: TransferTap.Direction) throws -> Int64 {
        switch direction {
        case .toServer: try self.scene.stored.durable()
        case .toClient: ServerFiles.partialBytes(in: self.scene.cache)
        }
    }
}
