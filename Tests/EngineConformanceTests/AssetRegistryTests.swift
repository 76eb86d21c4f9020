import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// Uploads as an engine sees them, and who may have which file.
@Suite(.timeLimit(.minutes(10)))
struct AssetRegistryTests {
    @Test(arguments: EngineKind.allCases)
    func `an upload has one number until it is complete, also after a restart`(kind: EngineKind) async throws
    {
        var it = try EngineUnderTest(kind)
        let first = try await it.begin([file(1), file(2)])
        let numbers = first.compactMap(\.number)
        #expect(Set(numbers).count == 2)
        it = try await it.reopened()
        #expect(try await it.begin([file(2), file(1)]) == first.reversed())
        try await it.complete(numbers[0])
        try await it.complete(numbers[0])
        #expect(try await it.begin([file(1), file(2)]) == [.complete, .incomplete(numbers[1])])
        #expect(try it.stored() == [StoredAsset(number: numbers[0], asset: file(1))])
    }

    @Test(arguments: EngineKind.allCases)
    func `who may not write may not upload, and nothing is made of a request that is refused`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind) { $0.bounds.assetBytesMax = 1_000 }
        await #expect(throws: StoreError.notSignedIn) { try await it.begin([file(1)], by: it.anonymously) }
        await #expect(throws: StoreError.duplicateItem) { try await it.begin([file(1), file(1)]) }
        let tooLarge = StoreError.assetTooLarge(index: 1, bytes: 1_001)
        await #expect(throws: tooLarge) { try await it.begin([file(1), file(2, size: 1_001)]) }
        #expect(try await it.begin([file(1, size: 1_000)])[0].number == AssetNumber(rawValue: 1))
    }

    @Test(arguments: EngineKind.allCases)
    func `an upload without a byte for the grace time goes, one with bytes stays`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind)
        let numbers = try await it.begin([file(1), file(2)]).compactMap(\.number)
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds - 1)
        it.store.assets.touch(numbers[1])
        _ = try await it.begin([file(3)])
        it.clock.advance(milliseconds: 1)
        #expect(try await it.removals() == [numbers[0]])
        await #expect(throws: StoreError.assetUploadExpired) { try await it.complete(numbers[0]) }
        try await it.complete(numbers[1])
        try await it.removed(numbers)
        await #expect(throws: StoreError.assetUploadExpired) { try await it.complete(numbers[0]) }
        #expect(try it.stored().map(\.number) == [numbers[1]])
    }

    @Test(arguments: EngineKind.allCases)
    func `when room is needed, files of deleted records go at once, and others after a quarter of an hour`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let numbers = try await it.upload(file(1), file(2))
        let begun = try await it.begin([file(3)]).compactMap(\.number)
        let open = try await it.open([file(4)]).compactMap(\.number)
        #expect(try await it.modify([save("a", ["f": .asset(file(1))])]).areSaved)
        _ = try await it.modify([], deletes: [id("a")])
        #expect(try await it.removals() == [])
        it.store.assets.beginReading([numbers[0]])
        #expect(try await it.removals(isPressed: true) == [])
        it.store.assets.endReading([numbers[0]])
        #expect(try await it.removals(isPressed: true) == [numbers[0]])
        try await it.removed([numbers[0]])
        it.clock.advance(milliseconds: 15 * 60 * 1_000 - 1)
        #expect(try await it.removals(isPressed: true) == [])
        it.clock.advance(milliseconds: 1)
        #expect(try await it.removals() == [])
        it.store.assets.touchOpen()
        #expect(Set(try await it.removals(isPressed: true)) == [numbers[1], begun[0]])
        it.store.assets.release(open)
        #expect(!(try await it.removals(isPressed: true)).contains(open[0]))
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `without need, files of deleted records stay for the grace time as all others do`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let numbers = try await it.upload(file(1), file(2))
        #expect(try await it.modify([save("a", ["f": .asset(file(1))])]).areSaved)
        _ = try await it.modify([], deletes: [id("a")])
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds - 1)
        #expect(try await it.removals() == [])
        #expect(try await it.begin([file(2)]) == [.complete])
        it.clock.advance(milliseconds: 1)
        #expect(try await it.removals() == [numbers[0]])
    }

    @Test(arguments: EngineKind.allCases)
    func `an upload that is open stays however long it takes, one by one, and goes when the last has let go`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind)
        let first = try await it.open([file(1), file(2)]).compactMap(\.number)
        #expect(try await it.open([file(1)]).compactMap(\.number) == [first[0]])
        await #expect(throws: StoreError.duplicateItem) { try await it.open([file(2), file(2)]) }
        for _ in 0..<3 {
            it.clock.advance(milliseconds: 2 * EngineUnderTest.graceMilliseconds)
            #expect(try await it.removals() == [])
        }
        it.store.assets.release([first[0]])
        it.store.assets.release([first[1]])
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds)
        #expect(try await it.removals() == [first[1]])
        it.store.assets.release([first[0]])
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds)
        #expect(Set(try await it.removals()) == Set(first))
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `an upload whose reply comes after the grace time has its row`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        async let places = it.open((0..<50).map { file($0) })
        var marked: [AssetNumber] = []
        for _ in 0..<50 {
            it.clock.advance(milliseconds: 2 * EngineUnderTest.graceMilliseconds)
            marked += try await it.removals()
        }
        let numbers = try await places.compactMap(\.number)
        #expect(marked == [] && numbers.count == 50)
        for number in numbers { try await it.complete(number) }
    }

    @Test(arguments: EngineKind.allCases)
    func `an upload that was abandoned goes at once, and begins anew under another number`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind)
        let number = try #require(try await it.begin([file(1)])[0].number)
        it.store.assets.abandon(number)
        let again = try #require(try await it.begin([file(1)])[0].number)
        #expect(again > number)
        await #expect(throws: StoreError.assetUploadExpired) { try await it.complete(number) }
        try await it.complete(again)
        // Too late: it is complete.
        it.store.assets.abandon(again)
        #expect(try await it.removals() == [number])
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `an upload that was abandoned is not found by the next one, however late its job comes`(
        kind: EngineKind
    ) async throws {
        let script = FailureScript()
        let it = try EngineUnderTest(kind) { $0.failures = { script.next() } }
        for (index, failure) in [InjectedFailure.primitive(.conflict, behind: 0), .reply].enumerated() {
            let number = try #require(try await it.open([file(index)])[0].number)
            let gate = Gate()
            let held = Gate()
            it.send([save("holds the writer \(index)", in: .default)]) { _ in
                held.open()
                gate.wait()
            }
            held.wait()
            // That of the job, of the next upload, and of the job once more.
            script.failures = [failure, nil, failure]
            it.store.assets.abandon(number)
            it.store.assets.release([number])
            let next = await withCheckedContinuation { continuation in
                it.store.assets.begin([file(index)], in: nil, for: it.privately) {
                    continuation.resume(returning: $0)
                }
                gate.open()
            }
            let again = try #require(try next.get()[0].number)
            #expect(again > number)
            await #expect(throws: StoreError.assetUploadExpired) { try await it.complete(number) }
            try await it.complete(again)
        }
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `removals come in pieces until there are no more`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        let numbers = try await it.begin((0..<7).map { file($0) }).compactMap(\.number)
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds)
        var removed: [AssetNumber] = []
        while true {
            let piece = try await it.removals(limit: 3)
            removed += piece
            try await it.removed(piece)
            if piece.count < 3 { break }
        }
        #expect(removed == numbers)
        // A number is never used again, though no row has it any more.
        let next = try #require(try await it.reopened().begin([file(1)])[0].number)
        #expect(next > numbers[6])
    }

    @Test(arguments: EngineKind.allCases)
    func `an asset is found by who may read a record that names it`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let numbers = try await it.upload(file(1), file(2), file(3))
        _ = try await it.modify([save("a", ["f": .asset(file(1)), "l": .assetList([file(2), file(1)])])])
        let found = try await it.locate([file(2), file(1), file(2)], of: id("a"))
        #expect(found.map(\.number) == [numbers[1], numbers[0], numbers[1]])
        #expect(found.map(\.asset) == [file(2), file(1), file(2)])
        await #expect(throws: StoreError.assetNotNamed(index: 1)) {
            try await it.locate([file(1), file(3)], of: id("a"))
        }
        await #expect(throws: StoreError.recordMissing) { try await it.locate([file(1)], of: id("b")) }
        await #expect(throws: StoreError.zoneMissing) {
            try await it.locate([file(1)], of: id("a", in: ZoneID(zoneName: "none")))
        }
        await #expect(throws: StoreError.zoneMissing) {
            try await it.locate([file(1)], of: id("a"), by: it.bobPrivately)
        }
        // More than are read on the caller's thread.
        #expect(try await it.locate([Asset](repeating: file(1), count: 100), of: id("a")).count == 100)
    }

    @Test(arguments: EngineKind.allCases)
    func `a record that may not be read gives no asset away`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        let schema = """
            DEFINE SCHEMA RECORD TYPE Note (f ASSET, GRANT READ, WRITE TO "_creator", GRANT CREATE TO "_icloud");
            """
        try it.store.schemas.apply(
            .replaceDevelopment(try SchemaParser.parse(schema)),
            inContainer: EngineUnderTest.container
        )
        try await it.upload(file(1), by: it.publicly)
        _ = try await it.modify([save("a", in: .default, ["f": .asset(file(1))])], by: it.publicly)
        #expect(try await it.locate([file(1)], of: id("a", in: .default), by: it.publicly).count == 1)
        for requester in [it.bobPublicly, it.anonymously] {
            await #expect(throws: StoreError.permissionDenied(.read)) {
                try await it.locate([file(1)], of: id("a", in: .default), by: requester)
            }
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a zone with many uses is swept in pieces, and no request waits for all of it`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let files = (0..<1_000).map { file($0) }
        for start in stride(from: 0, to: 1_000, by: 250) {
            for place in try await it.begin(Array(files[start..<start + 250])) {
                if let number = place.number { try await it.complete(number) }
            }
        }
        _ = try await it.modify([save("a", ["l": .assetList(files)]), save("b", ["l": .assetList(files)])])
        #expect(try it.count(AssetUseRow.self) == 2_000)
        _ = try await it.modify([], deletes: [id("a")])
        #expect(try it.count(AssetUseRow.self) == 1_000)
        _ = try await it.modifyZones([], deletes: ["notes"])
        try await it.swept()
        #expect(try it.count(AssetUseRow.self) == 0)
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds)
        #expect(try await it.removals(limit: 2_000).count == 1_000)
        #expect(try await it.wrongCounters() == [])
    }
}
