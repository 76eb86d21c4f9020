import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import RecordServer

/// Which uploads may receive bytes, and which wait.
struct UploadTurnsTests {
    /// What uploads were told, in order.
    private final class Told: Sendable {
        private let messages = Mutex<[(name: Int, message: UploadTurns.Message)]>([])

        func note(_ name: Int) -> UploadTurns.Tell {
            { message in self.messages.withLock { $0.append((name, message)) } }
        }

        func take() -> [String] {
            self.messages.withLock { messages in
                defer { messages = [] }
                return messages.map { "\($0.name) \($0.message)" }
            }
        }
    }

    private static func numbers(_ numbers: Int64...) -> [AssetNumber] {
        numbers.map { AssetNumber(rawValue: $0) }
    }

    @Test func `more than the bound wait, and come in their order`() {
        let told = Told()
        let turns = UploadTurns(uploadsMax: 2)
        let asked = (1...4).map { turns.ask(Self.numbers(Int64($0)), tell: told.note($0)) }
        #expect(asked.map(\.isNow) == [true, true, false, false])
        #expect(turns.counts == (2, 2))
        turns.end(asked[1].ticket)
        #expect(told.take() == ["3 begin"])
        turns.end(asked[3].ticket)
        turns.end(asked[0].ticket)
        #expect(told.take() == [])
        #expect(turns.counts == (1, 0))
    }

    @Test func `two uploads of one asset take turns, and the first hears of the second once`() {
        let told = Told()
        let turns = UploadTurns(uploadsMax: 9)
        let first = turns.ask(Self.numbers(1, 2), tell: told.note(1))
        let second = turns.ask(Self.numbers(2, 3), tell: told.note(2))
        #expect(first.isNow && !second.isNow)
        #expect(told.take() == ["1 contested"])
        let third = turns.ask(Self.numbers(3), tell: told.note(3))
        #expect(!third.isNow)
        #expect(turns.ask(Self.numbers(4), tell: told.note(4)).isNow)
        turns.end(first.ticket)
        #expect(told.take() == ["2 begin", "2 contested"])
        turns.end(second.ticket)
        #expect(told.take() == ["3 begin"])
    }

    @Test func `no order of requests keeps anybody waiting for ever, and no asset is received twice at once`()
    {
        var generator = SeededGenerator.fromEnvironment()
        print("UploadTurnsTests: SEED=\(generator.seed)")
        for _ in 0..<200 {
            let told = Told()
            let turns = UploadTurns(uploadsMax: 3)
            var assets: [Int: Set<Int64>] = [:]
            var tickets: [Int: UploadTurns.Ticket] = [:]
            var receiving: Set<Int> = []
            for name in 0..<20 {
                let wanted = Set(
                    (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                        Int64.random(in: 1...6, using: &generator)
                    }
                )
                assets[name] = wanted
                let (ticket, isNow) = turns.ask(
                    wanted.map { AssetNumber(rawValue: $0) },
                    tell: told.note(name)
                )
                tickets[name] = ticket
                if isNow { receiving.insert(name) }
                if let ended = receiving.randomElement(using: &generator), Bool.random(using: &generator) {
                    tickets[ended].map(turns.end)
                    receiving.remove(ended)
                }
                receiving.formUnion(Self.begun(told))
                Self.expectApart(receiving, assets)
            }
            while let ended = receiving.first {
                tickets[ended].map(turns.end)
                receiving.remove(ended)
                receiving.formUnion(Self.begun(told))
                Self.expectApart(receiving, assets)
            }
            #expect(turns.counts == (0, 0))
        }
    }

    private static func begun(_ told: Told) -> [Int] {
        told.take().compactMap { $0.hasSuffix(" begin") ? Int($0.dropLast(" begin".count)) : nil }
    }

    private static func expectApart(_ receiving: Set<Int>, _ assets: [Int: Set<Int64>]) {
        let all = receiving.flatMap { assets[$0] ?? [] }
        #expect(all.count == Set(all).count)
        #expect(receiving.count <= 3)
    }
}
