import AssetStorage
import AssetStore
import Foundation
import RecordModel
import Synchronization
import TestSupport
import Testing

/// The byte stores that the conformance tests run with.
enum ByteStoreKind: CaseIterable, Sendable {
    case folder, memory

    /// An empty store, started.
    ///
    /// A sync is worth its cost whenever so many bytes more were appended.
    func make(stepBytes: Int = 1_000) async throws -> ByteStoreUnderTest {
        switch self {
        case .folder: try await .folder(FolderPlace(stepBytes: stepBytes))
        case .memory: try await .memory(MemoryPlace(stepBytes: stepBytes))
        }
    }
}

/// A byte store, and its place, which outlives it.
struct ByteStoreUnderTest: Sendable {
    let store: any AssetByteStore
    /// Lets the place have no room, or room again.
    let setFull: @Sendable (Bool) -> Void
    /// Lets appends fail, or succeed again.
    let setFailing: @Sendable (Bool) -> Void
    /// Another store at the same place, as after a crash of the process.
    ///
    /// Nothing more may be done with this one.
    let restarted: @Sendable () async throws -> ByteStoreUnderTest

    init(
        _ store: any AssetByteStore,
        setFull: @escaping @Sendable (Bool) -> Void,
        setFailing: @escaping @Sendable (Bool) -> Void,
        restarted: @escaping @Sendable () async throws -> ByteStoreUnderTest
    ) async throws {
        self.store = store
        self.setFull = setFull
        self.setFailing = setFailing
        self.restarted = restarted
        try await store.start()
    }

    static func folder(_ place: FolderPlace) async throws -> ByteStoreUnderTest {
        try await ByteStoreUnderTest(
            AssetStore(place.configuration),
            setFull: { isFull in place.isFull.withLock { $0 = isFull } },
            setFailing: { isFailing in place.isFailing.withLock { $0 = isFailing } },
            restarted: { try await .folder(place) }
        )
    }

    static func memory(_ place: MemoryPlace) async throws -> ByteStoreUnderTest {
        try await ByteStoreUnderTest(
            MemoryByteStore(place),
            setFull: { isFull in place.state.withLock { $0.isFull = isFull } },
            setFailing: { isFailing in place.state.withLock { $0.isFailing = isFailing } },
            restarted: { try await .memory(place) }
        )
    }
}

/// A folder of assets, with a disk that a test fills or lets fail.
final class FolderPlace: Sendable {
    private let directory: TemporaryDirectory
    private let stepBytes: Int
    let isFull = Mutex(false)
    let isFailing = Mutex(false)

    init(stepBytes: Int) throws {
        self.directory = try TemporaryDirectory()
        self.stepBytes = stepBytes
    }

    var configuration: AssetStoreConfiguration {
        var configuration = AssetStoreConfiguration(directory: self.directory.path + "/assets")
        configuration.chunks.bytes = 2 * self.stepBytes
        configuration.chunks.bytesMin = 1
        configuration.reserveBytes = { self.isFull.withLock { $0 } ? .max / 2 : 0 }
        configuration.faults = { step in
            guard case .write = step else { return 0 }
            return self.isFailing.withLock { $0 } ? EIO : 0
        }
        return configuration
    }
}
