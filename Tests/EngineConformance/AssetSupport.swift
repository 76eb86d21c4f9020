import RecordModel
import RecordStore
import StorageContract
import TestSupport

/// A file of which tests only need the name: no engine looks at bytes.
func file(_ number: Int, size: Int64 = 100) -> Asset {
    Asset(
        sha256: (0..<Asset.hashBytes).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 4))) },
        size: size
    )
}

extension EngineUnderTest {
    static let graceMilliseconds: Int64 = 86_400_000

    /// Begins uploads whose files nobody writes to.
    func begin(_ assets: [Asset], by requester: Requester? = nil) async throws(StoreError) -> [UploadStatus] {
        let places = try await self.open(assets, by: requester)
        self.store.assets.release(places.compactMap(\.number))
        return places
    }

    /// Begins uploads, to be released.
    func open(_ assets: [Asset], by requester: Requester? = nil) async throws(StoreError) -> [UploadStatus] {
        let result = await withCheckedContinuation { continuation in
            let zone = requester?.scope == .shared ? aliceNotes : nil
            self.store.assets.begin(assets, in: zone, for: requester ?? self.privately) {
                continuation.resume(returning: $0)
            }
        }
        return try result.get()
    }

    func complete(_ number: AssetNumber) async throws(StoreError) {
        let result = await withCheckedContinuation { continuation in
            self.store.assets.complete(number) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Begins uploads and completes them; the numbers of those that were not there.
    @discardableResult
    func upload(_ assets: Asset..., by requester: Requester? = nil) async throws(StoreError) -> [AssetNumber]
    {
        let numbers = try await self.begin(assets, by: requester).compactMap(\.number)
        for number in numbers { try await self.complete(number) }
        return numbers
    }

    func locate(
        _ assets: [Asset],
        of record: RecordID,
        by requester: Requester? = nil
    ) async throws(StoreError) -> [StoredAsset] {
        let result = await withCheckedContinuation { continuation in
            self.store.locateAssets(assets.map(\.sha256), of: record, for: requester ?? self.privately) {
                continuation.resume(returning: $0)
            }
        }
        return try result.get()
    }

    func removals(limit: Int = 1_000, isPressed: Bool = false) async throws(StoreError) -> [AssetNumber] {
        try await withCheckedContinuation { continuation in
            self.store.assets.removals(limit: limit, isPressed: isPressed) {
                continuation.resume(returning: $0)
            }
        }.get()
    }

    func removed(_ numbers: [AssetNumber]) async throws(StoreError) {
        try await withCheckedContinuation { continuation in
            self.store.assets.removed(numbers) { continuation.resume(returning: $0) }
        }.get()
    }

    /// Numbers of all complete assets, read in small pages.
    func stored() throws -> [StoredAsset] {
        var all: [StoredAsset] = []
        while true {
            let page = try self.store.assets.stored(after: all.last?.number, limit: 3)
            all += page
            if page.count < 3 { return all }
        }
    }
}
