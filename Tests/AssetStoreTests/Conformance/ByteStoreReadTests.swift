import AssetStorage
import NIOCore
import StorageContract
import Synchronization
import Testing

/// The promises of every byte store: reading, removing and listing.
@Suite(.timeLimit(.minutes(10)))
struct ByteStoreReadTests {
    private static func number(_ number: Int64) -> AssetNumber { AssetNumber(rawValue: number) }

    @Test(arguments: ByteStoreKind.allCases)
    func `pieces are what was asked for, behind their headers`(kind: ByteStoreKind) async throws {
        let store = try await kind.make().store
        await store.add(Array(0..<200), Self.number(7))
        let wanted = [Array(10..<60), Array(150..<200)].map { Array("head".utf8) + $0 }
        #expect(await store.read(Self.number(7), (10, 50), (150, 50)) == .success(wanted))
        #expect(await store.read(Self.number(7), (0, 10), (190, 11)) == .failure(.missing))
        #expect(await store.read(Self.number(8), (0, 1)) == .failure(.missing))
        await store.shutdown()
    }

    @Test(arguments: ByteStoreKind.allCases)
    func `of assets that are read together one that is missing fails alone`(
        kind: ByteStoreKind
    ) async throws {
        let store = try await kind.make().store
        await store.add(Array(0..<20), Self.number(7))
        await store.add(Array(20..<40), Self.number(9))
        let readings = [7, 8, 9].map { number in
            AssetReading(
                of: Self.number(number),
                [AssetReading.Piece(offset: 5, count: 10, header: ByteBuffer())],
                restBytes: 5
            )
        }
        #expect(
            await store.read(readings) == [
                .success([ByteBuffer(bytes: 5..<15)]), .failure(.missing),
                .success([ByteBuffer(bytes: 25..<35)]),
            ]
        )
        await store.shutdown()
    }

    @Test(arguments: ByteStoreKind.allCases)
    func `what is removed is gone, and what was gone is no error`(kind: ByteStoreKind) async throws {
        let place = try await kind.make()
        for number: Int64 in [1, 2, 257] {
            await place.store.add([UInt8(number & 0xFF)], Self.number(number))
        }
        for _ in 0..<2 { try await place.store.remove([1, 2, 3].map(Self.number)) }
        #expect(await place.store.read(Self.number(1), (0, 1)) == .failure(.missing))
        await place.store.shutdown()
        let restarted = try await place.restarted()
        #expect(try await restarted.store.numbers() == [Self.number(257)])
        #expect(try await restarted.store.contents(of: Self.number(257), size: 1) == [1])
        await restarted.store.shutdown()
    }

    @Test(arguments: ByteStoreKind.allCases, [1, 2, 3, 7, 8, 9])
    func `every number is on one page, of incomplete assets too`(
        kind: ByteStoreKind,
        pageMax: Int
    ) async throws {
        let store = try await kind.make().store
        #expect(try await store.numbers(pageMax: pageMax) == [])
        let complete = [1, 2, 0x101, 0x201, 0xFF, 0x3FF, 0x1FF].map(Self.number)
        for number in complete { await store.add([5], number) }
        let asset = AssetFiles.asset(Array(0..<200))
        let upload = store.upload([UploadItem(number: Self.number(0x202), asset: asset)])
        #expect(await upload.recovered() == .success([0]))
        await upload.closed(after: .appends([0, 1, 2]))
        let numbers = try await store.numbers(pageMax: pageMax)
        #expect(numbers.sorted() == (complete + [Self.number(0x202)]).sorted())
        await store.shutdown()
    }

    @Test(arguments: ByteStoreKind.allCases)
    func `a shutdown waits for the replies to all calls`(kind: ByteStoreKind) async throws {
        let store = try await kind.make().store
        await store.add(Array(0..<20), Self.number(7))
        let replies = Mutex(0)
        for number in 0..<20 {
            store.remove([Self.number(Int64(number + 100))]) { _ in replies.withLock { $0 += 1 } }
        }
        await store.shutdown()
        #expect(replies.withLock { $0 } == 20)
    }
}
