import AssetStorage
import Crypto
import FileIO
import Foundation
import NIOCore
import RecordModel
import StorageContract
import Synchronization

/// Bytes that outlive a store, as a disk does.
final class MemoryPlace: Sendable {
    struct State {
        var bytes: [AssetNumber: [UInt8]] = [:]
        var isFull = false
        var isFailing = false
    }

    /// Bytes that are worth a sync.
    let stepBytes: Int
    let state = Mutex(State())

    init(stepBytes: Int) { self.stepBytes = stepBytes }

    subscript(number: AssetNumber) -> [UInt8]? {
        get { self.state.withLock { $0.bytes[number] } }
        set { self.state.withLock { $0.bytes[number] = newValue } }
    }
}

/// Assets in memory: the least that `AssetByteStore` asks for.
struct MemoryByteStore: AssetByteStore {
    private let place: MemoryPlace
    private let threads = FileThreads(count: 2, priority: .normal)

    init(_ place: MemoryPlace) { self.place = place }

    func start() { self.threads.start() }

    func shutdown() async { await self.threads.shutdown() }

    func upload(_ items: [UploadItem]) -> any AssetUpload {
        MemoryUpload(items, in: self.place, threads: self.threads)
    }

    func read(
        _ readings: [AssetReading],
        into buffer: @escaping @Sendable (Int) -> ByteBuffer,
        reply: @escaping @Sendable ([Result<[ByteBuffer], AssetStoreError>]) -> Void
    ) {
        self.threads.run {
            reply(
                readings.map { reading in
                    let bytes = self.place[reading.number]
                    var frames: [ByteBuffer] = []
                    for piece in reading.pieces {
                        let start = Int(piece.offset)
                        guard let bytes, start + piece.count <= bytes.count else { return .failure(.missing) }
                        var frame = buffer(piece.header.readableBytes + piece.count)
                        frame.writeImmutableBuffer(piece.header)
                        frame.writeBytes(bytes[start..<start + piece.count])
                        frames.append(frame)
                    }
                    return .success(frames)
                }
            )
        }
    }

    func remove(
        _ numbers: [AssetNumber],
        reply: @escaping @Sendable (Result<Void, AssetStoreError>) -> Void
    ) {
        self.threads.run {
            for number in numbers { self.place[number] = nil }
            reply(.success(()))
        }
    }

    func list(
        after cursor: AssetPage.Cursor?,
        limit: Int,
        reply: @escaping @Sendable (Result<AssetPage, AssetStoreError>) -> Void
    ) {
        self.threads.run {
            let last = cursor.flatMap { Int64($0.text) } ?? 0
            let rest = self.place.state.withLock { $0.bytes.keys.filter { $0.rawValue > last } }.sorted()
            let numbers = Array(rest.prefix(limit))
            let next = numbers.count < rest.count ? numbers.last.map { "\($0.rawValue)" } : nil
            reply(.success(AssetPage(numbers: numbers, next: next.map { AssetPage.Cursor(text: $0) })))
        }
    }
}

/// Items in memory, durable as far as their place has them.
final class MemoryUpload: AssetUpload {
    private struct Item {
        var bytes: [UInt8] = []
        var hasEnded = false
    }

    private let items: [UploadItem]
    private let place: MemoryPlace
    private let lane: FileLane
    private let states: Mutex<[Item]>

    init(_ items: [UploadItem], in place: MemoryPlace, threads: FileThreads) {
        self.items = items
        self.place = place
        self.lane = FileLane(on: threads)
        self.states = Mutex(items.map { _ in Item() })
    }

    func recover(
        progress: @escaping @Sendable (Int64) -> Void,
        reply: @escaping @Sendable (Result<[Int64], UploadFailure>) -> Void
    ) {
        self.lane.submit {
            var offsets: [Int64] = []
            for (index, item) in self.items.enumerated() {
                guard let number = item.number else {
                    offsets.append(item.asset.size)
                    continue
                }
                guard !self.place.state.withLock({ $0.isFull }) else {
                    return reply(.failure(UploadFailure(item: index, .failed(.full))))
                }
                let bytes = self.place[number] ?? []
                self.states.withLock { $0[index].bytes = bytes }
                offsets.append(Int64(bytes.count))
                progress(offsets.reduce(0, +))
            }
            reply(.success(offsets))
        }
    }

    func execute(
        _ steps: [UploadStep],
        isSyncDue: Bool,
        reply: @escaping @Sendable (UploadEvent) -> Void
    ) {
        self.lane.submit {
            var outcome = UploadOutcome()
            for step in steps {
                do throws(AssetStoreError) {
                    switch step {
                    case .append(let item, let pieces):
                        let bytes = try self.append(pieces, to: item)
                        let durable = self.durableBytes(of: item)
                        outcome.durable.append((item, Int64(durable)))
                        let isStep = bytes / self.place.stepBytes > durable / self.place.stepBytes
                        outcome.syncDue = isStep || (isSyncDue && bytes > durable) ? item : nil
                    case .finish(let item):
                        guard try self.finish(item) else {
                            outcome.failure = UploadFailure(item: item, .differs)
                            return reply(.executed(outcome))
                        }
                        reply(.finished(item: item))
                    }
                } catch {
                    outcome.failure = UploadFailure(item: step.item, .failed(error))
                    break
                }
            }
            reply(.executed(outcome))
        }
    }

    func sync(
        _ item: Int,
        reply: @escaping @Sendable (Result<UploadDurability, AssetStoreError>) -> Void
    ) {
        self.lane.submit {
            self.makeDurable(item)
            let bytes = Int64(self.durableBytes(of: item))
            reply(.success(UploadDurability(bytes: bytes, isMoreDue: false)))
        }
    }

    func discard(_ item: Int, reply: @escaping @Sendable () -> Void) {
        self.lane.submit {
            self.states.withLock { $0[item].hasEnded = true }
            self.keep(nil, of: item)
            reply()
        }
    }

    func close(after steps: [UploadStep], reply: @escaping @Sendable () -> Void) {
        self.lane.submit {
            for step in steps {
                guard case .append(let item, let pieces) = step,
                    (try? self.append(pieces, to: item)) != nil
                else { break }
            }
            for item in self.items.indices {
                self.makeDurable(item)
                self.states.withLock { $0[item].hasEnded = true }
            }
            reply()
        }
    }

    /// - Returns: Number of bytes from the beginning.
    private func append(_ pieces: [ByteBuffer], to item: Int) throws(AssetStoreError) -> Int {
        let isFailing = self.place.state.withLock { $0.isFailing }
        return try self.states.withLock { states throws(AssetStoreError) in
            guard !states[item].hasEnded else { throw .ended }
            guard !isFailing else {
                states[item].hasEnded = true
                throw .failed(code: EIO)
            }
            for piece in pieces { states[item].bytes += piece.readableBytesView }
            return states[item].bytes.count
        }
    }

    private func finish(_ item: Int) throws(AssetStoreError) -> Bool {
        let state = self.states.withLock { states in
            defer { states[item].hasEnded = true }
            return states[item]
        }
        guard !state.hasEnded else { throw .ended }
        let isIntact = SHA256.hash(data: state.bytes).elementsEqual(self.items[item].asset.sha256)
        self.keep(isIntact ? state.bytes : nil, of: item)
        return isIntact
    }

    private func makeDurable(_ item: Int) {
        let state = self.states.withLock { $0[item] }
        if !state.hasEnded, !state.bytes.isEmpty { self.keep(state.bytes, of: item) }
    }

    private func durableBytes(of item: Int) -> Int {
        self.items[item].number.flatMap { self.place[$0]?.count } ?? 0
    }

    private func keep(_ bytes: [UInt8]?, of item: Int) {
        if let number = self.items[item].number { self.place[number] = bytes }
    }
}
