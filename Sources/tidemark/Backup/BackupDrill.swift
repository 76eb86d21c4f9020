import Administration
import FileIO
import Foundation
import StorageContract

/// A restore of the newest backup into a folder that is removed afterwards: the proof that it can
/// be used.
struct BackupDrill {
    /// Records that are compared with those of the data folder.
    private static let sampleSize = 1_000

    let backup: DrilledBackup
    /// Compared with the backup, if it has a store.
    let data: DataFolder
    /// The temporary folder is made in it.
    let scratch: String

    /// Restores, reads and compares everything.
    ///
    /// A backup that cannot be used is a result, and no error.
    ///
    /// - Throws: `CommandFailure` if the drill itself is impossible: there is no room, or no right.
    func run() async throws -> DrillReport {
        let start = ContinuousClock.now
        let folder = try ScratchFolder(in: self.scratch, called: "drill", for: "the whole backup")
        defer { folder.remove() }
        var report = DrillReport(backup: self.backup.path)
        do {
            try await self.fill(&report, in: DataFolder(path: folder.path + "/data"))
        } catch let failure as CommandFailure where failure.code == .data {
            report.problems.append(failure.message)
        }
        report.seconds = (ContinuousClock.now - start) / .seconds(1)
        return report
    }

    private func fill(_ report: inout DrillReport, in target: DataFolder) async throws {
        let source = try self.backup.source()
        report.take(source.summary)
        var run = try RestoreRun(of: source, to: target)
        let outcome = try run.run()
        report.assets = outcome.assets
        report.problems += outcome.damaged.map { "\($0.file): \($0.problem)" }
        do throws(StoreCopyError) {
            let store = try EngineOpening.files.source(in: target.path)
            report.problems += try store.checkPages { _, _ in }
            try self.compare(store, &report)
        } catch {
            throw CopyAdvice.failure(error, in: target.path)
        }
        // The files were compared with their hashes while they were restored.
        report.take(
            try await AdministeredStore.open(target) { try await VerificationRun(of: $0).run() }.verified
        )
    }

    /// Compares records, taken by chance, with those of the data folder.
    ///
    /// Records that have changed since the backup are left out.
    private func compare(_ store: any StoreSource, _ report: inout DrillReport) throws(StoreCopyError) {
        guard self.data.hasFile else { return }
        let served = try EngineOpening.files.source(in: self.data.path)
        var compared = 0
        for _ in 0..<Self.sampleSize {
            guard let record = try store.recordByChance() else { break }
            guard let other = try served.keptRecord(record.key), other.position == record.position else {
                continue
            }
            compared += 1
            guard other != record, report.problems.count < KeptRecord.faultsMax else { continue }
            report.problems.append("record \(record.name) is not what \(self.data.path) has")
        }
        report.comparedRecords = compared
    }
}

/// The subject of a drill: a backup, or the newest state of a chain.
enum DrilledBackup {
    case folder(BackupFolder)
    case chain(BackupChain)

    var path: String {
        switch self {
        case .folder(let folder): folder.path
        case .chain(let chain): chain.path
        }
    }

    func source() throws -> any RestoreSource {
        switch self {
        case .folder(let folder): try FolderSource(folder)
        case .chain(let chain): try ChainSource(chain)
        }
    }

    /// The newest complete backup: the folder itself, or one in it.
    ///
    /// - Throws: `noStore` if there is none; the failure of the folder itself if it is a backup that
    ///   cannot be read.
    static func newest(in path: String) throws(CommandFailure) -> DrilledBackup {
        let folder = BackupFolder(path: path)
        guard !FileManager.default.fileExists(atPath: folder.manifestPath) else { return .folder(folder) }
        let chain = BackupChain(path: path)
        guard !chain.isThere else { return .chain(chain) }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let newest = names.map { BackupFolder(path: folder.path + "/" + $0) }
            .compactMap { backup in
                (try? BackupManifest.read(in: backup)).map { (backup: backup, date: $0.date) }
            }
            // ISO 8601 in UTC is in the order of time.
            .max { $0.date < $1.date }
        guard let newest else {
            throw CommandFailure(
                .noStore,
                "there is no complete backup in \(folder.path). Make one: tidemark backup --to DIR"
            )
        }
        return .folder(newest.backup)
    }
}
