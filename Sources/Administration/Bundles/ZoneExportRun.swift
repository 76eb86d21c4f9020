import Foundation
import RecordModel
import RecordStore
import StorageContract
import Synchronization
package import ZoneBundles

/// An export: all records from one snapshot, and then the files that they name.
///
/// A file that no record names any more is there for the grace time, so the snapshot ends before the
/// files are read.
package final class ZoneExportRun: Sendable {
    private struct State {
        var description: BundleDescription
        var scrambler: Scrambler?
        /// `nil` until the snapshot has given the zones and their totals.
        var writer: BundleWriter?
        var failure: (any Error)?
        /// Assets by number: eight bytes each.
        var assets: Set<Int64> = []
        var progress: Progress
    }

    private static let pieceBytes = 1 << 20

    private let database: AdministeredDatabase
    private let output: BundleOutput
    private let files: AssetFiles
    private let state: Mutex<State>

    /// Makes an export that has not begun.
    ///
    /// `description` is without the zones. With `isScrambled`, noise is in place of values, names and
    /// files.
    package init(
        database: AdministeredDatabase,
        description: BundleDescription,
        isScrambled: Bool,
        output: BundleOutput,
        showProgress: @escaping @Sendable (Int64, Int64) -> Void
    ) {
        self.database = database
        self.output = output
        self.files = AssetFiles(in: database.folder.assetsPath)
        var generator = SystemRandomNumberGenerator()
        let scrambler = isScrambled ? Scrambler(key: ScrambleKey(using: &generator)) : nil
        self.state = Mutex(
            State(
                description: description,
                scrambler: scrambler,
                progress: Progress(showProgress)
            )
        )
    }

    /// Writes the zones with these names, or with `nil` all.
    package func run(_ zones: [String]?) async throws -> ExportReport {
        let result = await withCheckedContinuation { continuation in
            self.database.store.copyZones(zones, for: self.database.requester) {
                continuation.resume(returning: $0)
            } visit: { step in
                self.take(step)
            }
        }
        if let failure = self.state.withLock({ $0.failure }) { throw failure }
        switch result {
        case .success: break
        case .failure(.zoneMissing):
            throw BundleFailure.zonesMissing(zones ?? [])
        case .failure(let error): throw BundleFailure.zonesUnreadable(error)
        }
        let numbers = self.state.withLock { state in
            defer { state.assets = [] }
            return state.assets.sorted()
        }
        for number in numbers { try self.write(AssetNumber(rawValue: number)) }
        return try self.state.withLock { state in
            guard let totals = try state.writer?.finish() else {
                throw BundleFailure.nothingToRead
            }
            return ExportReport(
                zones: state.description.zones.map(\.name),
                records: totals.records,
                shares: totals.shares,
                assets: totals.assets,
                bytes: totals.bytes,
                sha256: totals.sha256
            )
        }
    }

    // MARK: Records

    /// Takes a step on a thread of the engine; false after a failure.
    private func take(_ step: ZoneCopyStep) -> Bool {
        self.state.withLock { state in
            do {
                switch step {
                case .beginning(let beginning): try self.begin(beginning, &state)
                case .record(let record, let assets): try Self.write(record, assets, &state)
                }
                return true
            } catch {
                state.failure = error
                return false
            }
        }
    }

    private func begin(_ beginning: ZoneCopyBeginning, _ state: inout State) throws {
        state.description.position = beginning.position
        state.description.epoch = beginning.epoch
        state.description.zones = beginning.zones.map {
            BundleDescription.Zone(
                name: $0.name,
                records: $0.records,
                bytes: $0.bytes,
                isPerZone: $0.encryptionScope == .perZone
            )
        }
        if let scrambler = state.scrambler { state.description = scrambler.scrambled(state.description) }
        state.progress.begin(beginning.zones.reduce(0) { $0 + $1.bytes })
        let output = self.output
        state.writer = try BundleWriter(state.description, schema: beginning.schema.text) {
            try output.write($0)
        }
    }

    private static func write(_ record: Record, _ assets: [StoredAsset], _ state: inout State) throws {
        for stored in assets where state.assets.insert(stored.number.rawValue).inserted {
            state.progress.extend(to: state.progress.total + stored.asset.size)
        }
        try state.writer?.add(state.scrambler?.scrambled(record) ?? record)
        state.progress.add(record.body.bytes.count)
    }

    // MARK: Assets

    private func write(_ number: AssetNumber) throws {
        let before = AssetNumber(rawValue: number.rawValue - 1)
        let stored: StoredAsset?
        do throws(StoreError) {
            stored = try self.database.store.assets.stored(after: before, limit: 1).first
        } catch {
            throw BundleFailure.assetNotFound(error)
        }
        let path = self.database.folder.assetsPath + "/" + self.files.name(of: number)
        guard let stored, stored.number == number, let file = FileHandle(forReadingAtPath: path) else {
            throw AssetFolderError.isDamaged(path)
        }
        try self.state.withLock { state in
            if state.scrambler != nil {
                try self.writeNoise(for: stored.asset, &state)
            } else {
                try self.write(file, of: stored.asset, path, &state)
            }
        }
    }

    private func write(
        _ file: FileHandle,
        of asset: Asset,
        _ path: String,
        _ state: inout State
    ) throws {
        do {
            try state.writer?.begin(asset)
            var left = asset.size
            while left > 0 {
                let count = Int(min(left, Int64(Self.pieceBytes)))
                let piece = [UInt8](try file.read(upToCount: count) ?? Data())
                guard !piece.isEmpty else { throw AssetFolderError.isDamaged(path) }
                try state.writer?.addBytes(piece)
                state.progress.add(piece.count)
                left -= Int64(piece.count)
            }
        } catch BundleError.assetDiffers {
            throw AssetFolderError.isDamaged(path)
        }
    }

    private func writeNoise(for asset: Asset, _ state: inout State) throws {
        guard var scrambler = state.scrambler else { return }
        try state.writer?.begin(scrambler.scrambled(asset))
        try scrambler.forEachPiece(of: asset) { (piece) throws(any Error) in
            try state.writer?.addBytes(piece)
            state.progress.add(piece.count)
        }
    }
}
