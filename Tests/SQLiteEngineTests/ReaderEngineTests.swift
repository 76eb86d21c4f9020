import Foundation
import RecordModel
import RecordStore
import SQLiteEngine
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// An engine that only reads, beside one that writes.
struct ReaderEngineTests {
    private func reader(of it: EngineUnderTest) throws -> Store {
        var configuration = SQLiteEngineConfiguration(directory: it.folder.path, housekeeping: nil)
        configuration.preparation = .none
        configuration.isReader = true
        let clock = it.clock
        return Store(
            try SQLiteEngine(configuration: configuration, clock: { clock.milliseconds }, report: { _ in }),
            configuration: StoreConfiguration(clock: { clock.milliseconds })
        )
    }

    private func zones(_ store: Store, _ requester: Requester) async throws -> [String] {
        try await withCheckedContinuation { continuation in
            store.fetchZones(.all, for: requester) { continuation.resume(returning: $0) }
        }.get().compactMap { if case .zone(let zone) = $0 { zone.id.zoneName } else { nil } }
    }

    @Test
    func `a reader sees every commit of the writer beside it`() async throws {
        let it = try EngineUnderTest(.sqlite)
        let reader = try self.reader(of: it)
        #expect(try await self.zones(reader, it.privately) == ["_defaultZone"])
        _ = try await it.modifyZones(["later"])
        #expect(try await self.zones(reader, it.privately) == ["_defaultZone", "later"])
        try it.store.directory.createContainer("org.example.other")
        #expect(try reader.directory.containers() == ["org.example.other", EngineUnderTest.container])
        await reader.shutdown()
        // The writer goes on when the reader has gone.
        _ = try await it.modifyZones(["last"])
        await it.store.shutdown()
    }

    @Test
    func `a reader refuses every write`() async throws {
        let it = try EngineUnderTest(.sqlite)
        let reader = try self.reader(of: it)
        let request = it.request(
            .modifyZones(ModifyZones(scope: .private, saves: [ZoneID(zoneName: "new")]))
        )
        let result = await withCheckedContinuation { continuation in
            reader.write(request) { continuation.resume(returning: $0) }
        }
        #expect(result == .failure(.shuttingDown))
        #expect(throws: DirectoryError.unavailable) {
            try reader.directory.createContainer("org.example.other")
        }
        #expect(try await self.zones(it.store, it.privately) == ["_defaultZone"])
        await reader.shutdown()
        await it.store.shutdown()
    }

    @Test
    func `a reader makes no file, and opens one without a writer`() async throws {
        let it = try EngineUnderTest(.sqlite)
        _ = try await it.modifyZones(["notes"])
        await it.store.shutdown()
        let reader = try self.reader(of: it)
        #expect(try await self.zones(reader, it.privately) == ["_defaultZone", "notes"])
        await reader.shutdown()
        let empty = try TemporaryDirectory()
        var configuration = SQLiteEngineConfiguration(directory: empty.path, housekeeping: nil)
        configuration.preparation = .none
        configuration.isReader = true
        #expect(throws: SQLiteEngineError.isMissing(path: empty.path + "/tidemark.sqlite")) {
            try SQLiteEngine(configuration: configuration, clock: { 0 }, report: { _ in })
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: empty.path).isEmpty)
    }
}
